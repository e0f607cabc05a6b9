// Machines as hwloc tells them: recorded ones, described ones, this one, and files that are none.

#include <set>

#include <sched.h>

#include "unit/fuzz_corpus.hpp"
#include "unit/machines.hpp"
#include "unit/support.hpp"

namespace kilter {
namespace {

using sizes = std::vector<std::uint32_t>;
using indices = std::vector<int>;
using test::cluster_sizes;
using test::os_indices;

machine synthetic(const std::string& description, bool smt = false) {
  return machine::from_synthetic(description, {.smt = smt});
}

machine edited(const std::string& name, const std::string& what, const std::string& by) {
  const test::scratch scratch;
  const std::string before = test::contents_of(test::recorded(name)),
                    after = test::replaced(before, what, by);
  EXPECT_NE(before, after) << what << " is not in " << name;
  return machine::from_xml(scratch.write("edited.xml", after));
}

/// The recorded machine as an hwloc without its own ranking of kinds would have exported it.
machine unranked(const std::string& name) {
  const test::scratch scratch;
  std::string xml = test::contents_of(test::recorded(name));
  const std::string ranking = " forced_efficiency=\"";
  for (std::size_t at = 0; (at = xml.find(ranking)) != std::string::npos;)
    xml.erase(at, xml.find('"', at + ranking.size()) + 1 - at);
  return machine::from_xml(scratch.write("unranked.xml", xml));
}

TEST(recorded, i7_1370p) {
  const auto m = machine::from_xml(test::recorded("intel-i7-1370p-frequencies.xml"));
  EXPECT_EQ(m.name(), "intel-i7-1370p-frequencies");
  EXPECT_EQ(cluster_sizes(m), (sizes{6, 8}));
  EXPECT_EQ(m.places().size(), 27u);
  EXPECT_EQ(os_indices(m), (indices{0, 2, 4, 6, 8, 10, 12, 13, 14, 15, 16, 17, 18, 19}));
  EXPECT_NEAR(m.kinds()[0].relative_speed, 5000.0 / 3900.0, 1e-12);
  EXPECT_EQ(m.kinds()[1].relative_speed, 1.0);
}

TEST(recorded, i7_1370p_with_all_logical_cpus) {
  const auto m = machine::from_xml(test::recorded("intel-i7-1370p-frequencies.xml"), {.smt = true});
  EXPECT_EQ(cluster_sizes(m), (sizes{12, 8}));
  for (core_id c = 0; c < 20; ++c) EXPECT_EQ(m.cores()[c].os_index, static_cast<int>(c));
}

TEST(recorded, arrow_lake) {
  const auto m = machine::from_xml(test::recorded("intel-arrowlake-225u.xml"));
  EXPECT_EQ(cluster_sizes(m), (sizes{2, 8, 2}));
  EXPECT_EQ(m.places().size(), 21u);
  EXPECT_EQ(test::kind_names(m), (std::vector<std::string>{"P-core", "E-core", "LP-core"}));
  EXPECT_EQ(os_indices(m), (indices{0, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}));
}

TEST(recorded, lakefield_whose_big_core_comes_last) {
  const auto m = machine::from_xml(test::recorded("intel-lakefield.xml"));
  EXPECT_EQ(cluster_sizes(m), (sizes{1, 4}));
  EXPECT_EQ(m.places().size(), 8u);
  EXPECT_EQ(os_indices(m), (indices{4, 0, 1, 2, 3}));
  EXPECT_EQ(m.fastest_cores(), (std::vector<core_id>{0}));
}

TEST(recorded, gb10_whose_kinds_alternate) {
  const auto m = machine::from_xml(test::recorded("nvidia-gb10.xml"));
  EXPECT_EQ(cluster_sizes(m), (sizes{5, 5, 5, 5}));
  EXPECT_EQ(m.places().size(), 24u);
  EXPECT_EQ(os_indices(m),
            (indices{5, 6, 7, 8, 9, 15, 16, 17, 18, 19, 0, 1, 2, 3, 4, 10, 11, 12, 13, 14}));
  EXPECT_NEAR(m.kinds()[0].relative_speed, 997.0 / 718.0, 1e-12);
}

TEST(recorded, no_place_mixes_kinds_or_clusters) {
  for (const auto* name : {"intel-i7-1370p-frequencies.xml", "intel-arrowlake-225u.xml",
                           "intel-lakefield.xml", "nvidia-gb10.xml"})
    for (const bool smt : {false, true}) {
      const auto m = machine::from_xml(test::recorded(name), {.smt = smt});
      for (const place& p : m.places())
        for (core_id c = p.leader; c < p.leader + p.width; ++c) {
          EXPECT_EQ(m.cores()[c].kind, m.cores()[p.leader].kind) << name;
          EXPECT_EQ(m.cores()[c].cluster, m.cores()[p.leader].cluster) << name;
        }
    }
}

TEST(kinds, capacity_orders_them_where_hwloc_does_not) {
  const auto m = unranked("nvidia-gb10.xml");
  EXPECT_EQ(m.cores()[0].os_index, 5);
  EXPECT_EQ(cluster_sizes(m), (sizes{5, 5, 5, 5}));
}

TEST(kinds, core_types_order_them_where_hwloc_does_not) {
  EXPECT_EQ(unranked("intel-lakefield.xml").cores()[0].os_index, 4);
  EXPECT_EQ(os_indices(unranked("intel-arrowlake-225u.xml"))[0], 0);
}

TEST(kinds, cpus_of_no_kind_come_last) {
  const auto m =
      edited("intel-lakefield.xml", R"(<cpukind cpuset="0x0000000f" forced_efficiency="0">)",
             R"(<cpukind cpuset="0x00000007" forced_efficiency="0">)");
  EXPECT_EQ(os_indices(m), (indices{4, 0, 1, 2, 3}));
  EXPECT_EQ(cluster_sizes(m), (sizes{1, 3, 1}));
}

/// The kinds of a recorded machine replaced by others.
std::string with_kinds(const std::string& name, const std::string& kinds) {
  const std::string xml = test::contents_of(test::recorded(name));
  const std::size_t first = xml.find("<cpukind"),
                    last = xml.rfind("</cpukind>") + std::string("</cpukind>").size();
  return xml.substr(0, first) + kinds + xml.substr(last);
}

std::string kind_of(const std::string& set, int efficiency, const std::string& infos) {
  std::string text =
      "<cpukind cpuset=\"" + set + "\"" +
      (efficiency < 0 ? "" : " forced_efficiency=\"" + std::to_string(efficiency) + "\"") + ">\n";
  for (std::size_t at = 0; at < infos.size();) {
    const std::size_t equals = infos.find('=', at),
                      end = std::min(infos.find(' ', at), infos.size());
    text += "<info name=\"" + infos.substr(at, equals - at) + "\" value=\"" +
            infos.substr(equals + 1, end - equals - 1) + "\"/>\n";
    at = end + 1;
  }
  return text + "</cpukind>\n";
}

machine machine_with_kinds(const std::string& name, const std::string& kinds) {
  const test::scratch scratch;
  return machine::from_xml(scratch.write("kinds.xml", with_kinds(name, kinds)));
}

/// NVIDIA's GB10 as Linux tells it where user programs may not read the main identification
/// register: a capacity for every bin of equal cores.
TEST(kinds, capacities_a_few_percent_apart_are_one_kind) {
  for (const bool ranked : {true, false}) {
    const auto kind = [&](const char* set, const char* capacity, const char* mhz) {
      return kind_of(set, ranked ? std::stoi(capacity) : -1,
                     "FrequencyMaxMHz=" + std::string(mhz) + " FrequencyBaseMHz=" + mhz +
                         " LinuxCapacity=" + capacity);
    };
    const auto m = machine_with_kinds("nvidia-gb10.xml", kind("0x0000001f", "718", "2808") +
                                                             kind("0x00007c00", "731", "2808") +
                                                             kind("0x000003e0", "997", "3900") +
                                                             kind("0x00078000", "1017", "3900") +
                                                             kind("0x00080000", "1024", "3900"));
    const auto known = machine::from_xml(test::recorded("nvidia-gb10.xml"));
    EXPECT_EQ(test::kind_names(m), (std::vector<std::string>{"big", "little"}));
    EXPECT_EQ(os_indices(m), os_indices(known))
        << "Cortex-X925 and A725, as where the register can be read";
    EXPECT_EQ(cluster_sizes(m), cluster_sizes(known));
    EXPECT_NEAR(m.kinds()[0].relative_speed, (5 * 997 + 4 * 1017 + 1024) / (5 * 718 + 5 * 731.0),
                1e-12)
        << "the mean of each";
  }
}

TEST(kinds, a_favoured_core_is_of_the_kind_of_its_neighbours) {
  const auto m = machine_with_kinds(
      "intel-i7-1370p-frequencies.xml",
      kind_of("0x000ff000", -1, "FrequencyMaxMHz=3900 FrequencyBaseMHz=1400") +
          kind_of("0x00000ff3", -1, "FrequencyMaxMHz=5000 FrequencyBaseMHz=1900") +
          kind_of("0x0000000c", -1, "FrequencyMaxMHz=5200 FrequencyBaseMHz=1900"));
  EXPECT_EQ(cluster_sizes(m), (sizes{6, 8}));
  EXPECT_EQ(os_indices(m), (indices{0, 2, 4, 6, 8, 10, 12, 13, 14, 15, 16, 17, 18, 19}));
}

TEST(kinds, one_kind_alone_does_not_tell_its_cpus_from_others) {
  const auto m = machine_with_kinds("nvidia-gb10.xml", kind_of("0x00000001", 0, ""));
  EXPECT_EQ(test::kind_names(m), (std::vector<std::string>{"core"}));
  EXPECT_EQ(cluster_sizes(m), (sizes{10, 10}));
}

TEST(kinds, names_tell_kinds_apart_whatever_their_numbers) {
  const auto parts = machine_with_kinds(
      "nvidia-gb10.xml", kind_of("0x00007c1f", -1, "LinuxCapacity=1000 CPUPart=0xd87") +
                             kind_of("0x000f83e0", -1, "LinuxCapacity=1024 CPUPart=0xd85"));
  EXPECT_EQ(test::kind_names(parts), (std::vector<std::string>{"cortex-x925", "cortex-a725"}));
  const auto types =
      machine_with_kinds("intel-lakefield.xml",
                         kind_of("0x0000000f", -1, "CoreType=IntelAtom FrequencyMaxMHz=3000") +
                             kind_of("0x00000010", -1, "CoreType=IntelCore FrequencyMaxMHz=3000"));
  EXPECT_EQ(test::kind_names(types), (std::vector<std::string>{"P-core", "E-core"}));
}

TEST(kinds, small_steps_do_not_add_up) {
  const auto m =
      machine_with_kinds("nvidia-gb10.xml", kind_of("0x0000001f", -1, "LinuxCapacity=1000") +
                                                kind_of("0x000003e0", -1, "LinuxCapacity=920") +
                                                kind_of("0x00007c00", -1, "LinuxCapacity=850") +
                                                kind_of("0x000f8000", -1, "LinuxCapacity=780"));
  EXPECT_EQ(test::kind_names(m), (std::vector<std::string>{"big", "little"}))
      << "1000 and 920, 850 and 780";
}

TEST(kinds, the_source_may_name_none) {
  const auto m = synthetic("pack:1 l3:1 core:4 pu:1");
  EXPECT_EQ(test::kind_names(m), (std::vector<std::string>{"core"}));
  EXPECT_EQ(m.kinds()[0].relative_speed, 0.0);
  EXPECT_EQ(m.fastest_cores().size(), 4u) << "all cores are fast if all are equal";
}

TEST(clusters, cores_that_share_the_last_level_cache) {
  EXPECT_EQ(cluster_sizes(synthetic("pack:2 l3:2 l2:2 core:2 pu:1")), (sizes{4, 4, 4, 4}));
  EXPECT_EQ(cluster_sizes(synthetic("pack:1 l2:3 core:2 pu:1")), (sizes{2, 2, 2}));
  EXPECT_EQ(cluster_sizes(synthetic("pack:1 l3:1 numa:2 core:4 pu:1")), (sizes{8}));
}

TEST(clusters, a_cache_of_one_core_is_shared_by_nobody) {
  EXPECT_EQ(cluster_sizes(synthetic("pack:1 l2:4 core:1 pu:1")), (sizes{4}));
  EXPECT_EQ(cluster_sizes(synthetic("pack:1 l2:4 core:1 pu:2", true)), (sizes{8}));
}

TEST(clusters, the_numa_node_without_caches) {
  const auto m = synthetic("numa:2 core:4 pu:1");
  EXPECT_EQ(cluster_sizes(m), (sizes{4, 4}));
  EXPECT_EQ(m.cores()[3].numa_node, 0);
  EXPECT_EQ(m.cores()[4].numa_node, 1);
  EXPECT_EQ(cluster_sizes(synthetic("pack:2 numa:2 core:3 pu:2")), (sizes{3, 3, 3, 3}));
}

TEST(clusters, the_package_where_one_node_spans_several) {
  EXPECT_EQ(cluster_sizes(synthetic("pack:2 core:4 pu:1")), (sizes{4, 4}));
  EXPECT_EQ(cluster_sizes(synthetic("pack:2 die:2 core:2 pu:1")), (sizes{4, 4}));
}

TEST(clusters, the_whole_machine_without_anything) {
  EXPECT_EQ(cluster_sizes(synthetic("core:4 pu:1")), (sizes{4}));
  EXPECT_EQ(cluster_sizes(synthetic("pu:6")), (sizes{6}));
}

TEST(clusters, dies_and_groups_do_not_matter_where_caches_do) {
  EXPECT_EQ(cluster_sizes(synthetic("group:2 pack:1 die:2 l3:1 core:2 pu:1")), (sizes{2, 2, 2, 2}));
}

TEST(clusters, two_kinds_of_memory_close_to_the_same_cores_make_one_cluster) {
  const auto m = synthetic("pack:2 [numa(memory=1GB)] [numa(memory=4GB)] core:4 pu:1");
  EXPECT_EQ(cluster_sizes(m), (sizes{4, 4}));
  std::set<int> nodes;
  for (const core& c : m.cores()) nodes.insert(c.numa_node);
  EXPECT_EQ(nodes, (std::set<int>{0, 2})) << "the lower of each pair";
}

TEST(clusters, numbered_by_lowest_os_index) {
  const auto m = synthetic("pack:2 l3:1 core:2 pu:1(indexes=2,3,0,1)");
  EXPECT_EQ(os_indices(m), (indices{0, 1, 2, 3}));
  EXPECT_EQ(os_indices(synthetic("pack:2 l3:1 core:2 pu:1(indexes=0,2,1,3)")),
            (indices{0, 2, 1, 3}));
}

TEST(smt, one_core_a_physical_core_unless_asked) {
  const auto one = synthetic("pack:1 l3:1 core:2 pu:2(indexes=0,2,1,3)");
  EXPECT_EQ(os_indices(one), (indices{0, 1}));
  const auto all = synthetic("pack:1 l3:1 core:2 pu:2(indexes=0,2,1,3)", true);
  EXPECT_EQ(os_indices(all), (indices{0, 2, 1, 3})) << "those of a core side by side";
  EXPECT_EQ(all.places().size(), 7u);
}

TEST(smt, forbidden_cpus_leave_the_sibling) {
  const auto allow = [](const std::string& set) {
    return edited("intel-i7-1370p-frequencies.xml", R"(allowed_cpuset="0x000fffff")",
                  "allowed_cpuset=\"" + set + "\"");
  };
  EXPECT_EQ(os_indices(allow("0x0003100e")), (indices{1, 2, 12, 16, 17}));
  EXPECT_EQ(cluster_sizes(allow("0x0003100e")), (sizes{2, 3}));
  EXPECT_EQ(test::kind_names(allow("0x00003000")).size(), 1u);
}

TEST(local, this_machine_is_what_the_affinity_mask_allows) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  int last = CPU_SETSIZE - 1;
  while (!CPU_ISSET(last, &before)) --last;
  CPU_ZERO(&one);
  CPU_SET(last, &one);

  const auto here = machine::local({.smt = true});
  for (const core& c : here.cores()) EXPECT_TRUE(CPU_ISSET(c.os_index, &before));
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const auto pinned = machine::local();
  const auto whole = machine::local({.smt = true, .all_cpus = true});
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(os_indices(pinned), (indices{last}));
  EXPECT_GE(whole.core_count(), static_cast<std::uint32_t>(CPU_COUNT(&before)));
}

TEST(synthetic, bad_descriptions_are_named) {
  testing::internal::CaptureStderr();
  for (const auto* text : {"", "x", "pack:0 core:1 pu:1", "pack:-1 pu:1", "pu:1 core:2",
                           "pack:2 pack", "core:4", "pack:2 core:"})
    test::expect_names(test::refusal([&] { (void)synthetic(text); }),
                       {"'" + std::string(text) + "'", "pack:2 l3:1 core:4 pu:1"});
  for (const auto* text :
       {"core:1000000000 pu:1", "pack:100000 core:100000 pu:8", "core:99999999999999999999 pu:1"})
    test::expect_names(test::refusal([&] { (void)synthetic(text); }), {text, "at most 65536"});
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

/// hwloc compares every object with those beside it: 20000 in a row took it a minute.
TEST(synthetic, what_would_take_minutes_is_refused_at_once) {
  for (const auto* text : {"pack:2 l3:9999 pu:1", "pu:20000", "core:5000 l2:1 l1:1 pu:1",
                           "pack:4096 [numa] [numa] [numa] pu:1", "pack:64 core:64 pu:16"})
    test::expect_names(test::refusal([&] { (void)synthetic(text); }),
                       {text, "side by side", "pack:32 l3:8 core:32 pu:1", "platform file"});
  test::expect_names(test::refusal([] { (void)synthetic("pack:1" + std::string(100'000, ' ')); }),
                     {"100006 characters", "4096"});
  EXPECT_EQ(synthetic("pack:32 l3:8 core:32 pu:1").core_count(), 8192u)
      << "what the message advises";
}

TEST(fuzz_corpus, of_topologies) {
  testing::internal::CaptureStderr();
  kilter::test::replay_corpus("xml", [](const std::string& path, const std::string&) {
    (void)machine::from_xml(path, {.smt = true});
  });
  kilter::test::replay_corpus("synthetic", [](const std::string&, const std::string& text) {
    (void)machine::from_synthetic(text);
  });
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace kilter
