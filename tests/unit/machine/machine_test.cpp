// Places and numbering, which every policy and every trace table indexes by; --cores and --fast as
// users type them; the CPU quota, on trees of files as Linux and container engines lay them out.

#include <algorithm>
#include <set>

#include "machine/cgroup.hpp"
#include "unit/machines.hpp"
#include "unit/support.hpp"

namespace kilter {
namespace {

// ---- places and numbering -----------------------------------------------------------------------

using test::refusal;

std::vector<place> places(const machine& m) { return {m.places().begin(), m.places().end()}; }

TEST(machine, one_core_has_one_place) {
  const auto m = machine::uniform(1);
  EXPECT_EQ(places(m), (std::vector<place>{{0, 1}}));
  EXPECT_EQ(m.fastest_cores(), (std::vector<core_id>{0}));
}

TEST(machine, nine_cores_in_a_cluster_have_widths_1_3_9) {
  const auto m = machine::uniform(9);
  EXPECT_EQ(m.clusters()[0].widths, (std::vector<std::uint32_t>{1, 3, 9}));
  EXPECT_EQ(m.places().size(), 13u);
}

TEST(machine, a_power_of_two_cluster_has_2n_minus_1_places) {
  for (const std::uint32_t n : {1u, 2u, 4u, 16u, 64u, 128u})
    EXPECT_EQ(machine::uniform(n).places().size(), 2 * n - 1) << n;
}

TEST(machine, a_haswell_socket_of_ten_has_18_places_and_two_sockets_36) {
  EXPECT_EQ(machine::uniform(10).places().size(), 18u);
  EXPECT_EQ(machine::uniform(20, 2).places().size(), 36u);
}

TEST(machine, powers_of_two_are_kept_only_on_request) {
  std::vector<core> cores(6);
  for (core_id c = 0; c < 6; ++c) cores[c] = {c, static_cast<int>(c), 0, 0, 0};
  const std::vector<core_kind> kind{{0, "core", 6, 0}};
  EXPECT_EQ(machine("m", kind, cores).clusters()[0].widths,
            (std::vector<std::uint32_t>{1, 2, 3, 6}));
  const machine narrow("m", kind, cores, true);
  EXPECT_EQ(narrow.clusters()[0].widths, (std::vector<std::uint32_t>{1, 2}));
  const core_id keep[] = {0, 1, 2};
  EXPECT_EQ(narrow.restricted_to(keep).clusters()[0].widths, (std::vector<std::uint32_t>{1}))
      << "the choice outlives a restriction";
}

TEST(machine, places_are_aligned_inside_their_cluster_and_ordered) {
  const auto m = machine::uniform(12, 2);
  place_id next = 0;
  for (const cluster& cl : m.clusters())
    for (const std::uint32_t w : cl.widths)
      for (core_id leader = cl.first; leader < cl.first + cl.size; leader += w)
        EXPECT_EQ(m.places()[next++], (place{leader, w}));
  EXPECT_EQ(next, m.places().size());
}

TEST(machine, scan_order_is_core_then_width) {
  const auto m = machine::from_platform("jetson-tx2");
  std::vector<place> scanned;
  for (const place_id p : m.scan_order()) scanned.push_back(m.at(p));
  EXPECT_EQ(scanned,
            (std::vector<place>{
                {0, 1}, {0, 2}, {1, 1}, {2, 1}, {2, 2}, {2, 4}, {3, 1}, {4, 1}, {4, 2}, {5, 1}}));
}

TEST(machine, every_index_agrees_with_the_list_of_places) {
  for (const auto& m :
       {machine::uniform(12, 2), machine::uniform(7), machine::from_platform("jetson-tx2")}) {
    for (place_id p = 0; p < m.places().size(); ++p) EXPECT_EQ(m.find(m.at(p)), p);
    for (core_id c = 0; c < m.core_count(); ++c) {
      EXPECT_EQ(m.at(m.single(c)), (place{c, 1}));
      std::vector<std::uint32_t> containing, led;
      for (const place_id p : m.containing(c)) {
        EXPECT_TRUE(m.at(p).contains(c));
        containing.push_back(m.at(p).width);
      }
      EXPECT_EQ(containing, m.clusters()[m.cores()[c].cluster].widths)
          << "one of each width, ascending";
      for (const place_id p : m.led_by(c)) {
        EXPECT_EQ(m.at(p).leader, c);
        led.push_back(m.at(p).width);
      }
      EXPECT_TRUE(std::is_sorted(led.begin(), led.end()));
      EXPECT_EQ(led.size(), static_cast<std::size_t>(
                                std::count_if(m.places().begin(), m.places().end(),
                                              [c](const place& p) { return p.leader == c; })));
    }
  }
}

TEST(machine, find_refuses_places_that_are_not) {
  const auto m = machine::from_platform("jetson-tx2");
  for (const place p : {place{1, 2}, place{0, 4}, place{3, 2}, place{6, 1}, place{0, 0},
                        place{0, 3}, place{no_core, 1}})
    EXPECT_EQ(m.find(p), std::nullopt) << p.leader << ',' << p.width;
}

TEST(machine, copies_are_independent) {
  auto original = std::make_unique<machine>(machine::uniform(4));
  const machine copy = *original;
  original.reset();
  EXPECT_EQ(copy.containing(3).size(), 3u);
}

TEST(machine, a_restriction_renumbers_and_derives_places_anew) {
  const auto tx2 = machine::from_platform("jetson-tx2");
  const core_id keep[] = {5, 1, 3, 2};
  const auto m = tx2.restricted_to(keep);
  EXPECT_EQ(test::os_indices(m), (std::vector<int>{2, 0, 3, 5}));
  EXPECT_EQ(test::cluster_sizes(m), (std::vector<std::uint32_t>{1, 3}));
  EXPECT_EQ(places(m), (std::vector<place>{{0, 1}, {1, 1}, {2, 1}, {3, 1}, {1, 3}}));
  EXPECT_EQ(m.kinds()[1].cores, 3u);
}

TEST(machine, a_restriction_to_the_slow_cluster_forgets_the_fast_kind) {
  const auto tx2 = machine::from_platform("jetson-tx2");
  const core_id keep[] = {2, 3};
  const auto m = tx2.restricted_to(keep);
  EXPECT_EQ(test::kind_names(m), (std::vector<std::string>{"a57"}));
  EXPECT_EQ(m.fastest_cores(), (std::vector<core_id>{0, 1}));
  const core_id fast[] = {0};
  EXPECT_DOUBLE_EQ(tx2.restricted_to(fast).kinds()[0].relative_speed, 1.0)
      << "speed is against the slowest kind that is left";
}

TEST(machine, a_restriction_refuses_cores_that_do_not_exist_twice_named_or_none) {
  const auto m = machine::uniform(4);
  const core_id absent[] = {0, 4}, twice[] = {1, 1};
  test::expect_names(refusal([&] { (void)m.restricted_to(absent); }), {"core 4", "0-3"});
  test::expect_names(refusal([&] { (void)m.restricted_to(twice); }), {"core 1", "twice"});
  refusal([&] { (void)m.restricted_to({}); });
}

TEST(machine, parts_that_do_not_fit_are_refused) {
  const std::vector<core_kind> two{{0, "big", 0, 0}, {1, "little", 0, 0}};
  const auto refused = [&](std::vector<core_kind> kinds, std::vector<core> cores) {
    return refusal([&] { machine("odd", std::move(kinds), std::move(cores)); });
  };
  test::expect_names(refused(two, {}), {"odd", "no cores"});
  test::expect_names(refused(two, {{0, 0, 0, 0, 0}, {2, 1, 0, 0, 0}}), {"core 1", "id 2"});
  test::expect_names(refused(two, {{0, 0, 0, 0, 0}, {1, 1, 0, 1, 0}}),
                     {"cluster 0", "mixes kinds"});
  test::expect_names(refused(two, {{0, 0, 0, 0, 0}, {1, 1, 2, 1, 0}}), {"core 1", "cluster 2"});
  test::expect_names(refused(two, {{0, 0, 0, 0, 0}, {1, 1, 1, 1, 0}, {2, 2, 0, 0, 0}}),
                     {"core 2", "contiguous"});
  test::expect_names(refused(two, {{0, 0, 1, 0, 0}}), {"core 0", "cluster 1"});
  test::expect_names(refused(two, {{0, 0, 0, 7, 0}}), {"core 0", "kind 7"});
  test::expect_names(refused({{3, "x", 0, 0}}, {{0, 0, 0, 0, 0}}), {"kind 0", "id 3"});
}

TEST(machine, absurd_uniform_machines_are_refused) {
  refusal([] { (void)machine::uniform(0); });
  refusal([] { (void)machine::uniform(4, 0); });
  refusal([] { (void)machine::uniform(4, 3); });
  refusal([] { (void)machine::uniform(4'000'000'000u); });
}

// ---- lists of cores -----------------------------------------------------------------------------

using ids = std::vector<core_id>;

ids parse(const std::string& text) { return parse_cores(text, machine::uniform(8)); }

TEST(core_list, lists_ranges_and_counts) {
  EXPECT_EQ(parse("0-3,6"), (ids{0, 1, 2, 3, 6}));
  EXPECT_EQ(parse("2,"), (ids{2}));
  EXPECT_EQ(parse("0,"), (ids{0}));
  EXPECT_EQ(parse("4"), (ids{0, 1, 2, 3}));
  EXPECT_EQ(parse("8"), (ids{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(parse("5-5"), (ids{5}));
  EXPECT_EQ(parse("6,0-1"), (ids{0, 1, 6}));
}

TEST(core_list, what_is_wrong_is_named) {
  const auto refused = [](const std::string& text, const std::vector<std::string>& names) {
    const std::string message = test::refusal([&] { (void)parse(text); });
    test::expect_names(message, {"'" + text + "'"});
    test::expect_names(message, names);
  };
  refused("", {"count", "list"});
  refused("0", {"count of 0"});
  refused("9", {"0-7"});
  refused("8,", {"core 8", "0-7"});
  refused("0-8", {"core 8"});
  refused("3-1", {"backwards"});
  refused("1,1", {"core 1", "twice"});
  refused("0-3,2", {"core 2", "twice"});
  refused("99999999999999999999999", {"0-7"});
  refused("99999999999999999999999,", {"does not exist"});
  refused("4294967296,", {"does not exist"});
  for (const auto* garbage : {",", ",1", "1,,2", "-", "-1", "1-", "1-2-3", "a", "1,b", "+1", " 1",
                              "1 ", "0x1,", "1.5", "1;2"})
    refused(garbage, {"list of core ids"});
}

TEST(core_list, a_machine_of_one_core) {
  const auto one = machine::uniform(1);
  EXPECT_EQ(parse_cores("1", one), (ids{0}));
  test::expect_names(test::refusal([&] { (void)parse_cores("2", one); }), {"only core 0"});
}

// ---- the quota ----------------------------------------------------------------------------------

class cgroup : public testing::Test {
 protected:
  void group(const std::string& text) { tree_.write("proc/self/cgroup", text); }
  void mounts(const std::string& text) { tree_.write("proc/self/mountinfo", text); }
  void file(const std::string& path, const std::string& text) { tree_.write(path, text); }
  std::optional<double> quota() const { return detail::cgroup_quota(tree_.path()); }

  void version_2(const std::string& path) {
    group("0::" + path + "\n");
    mounts(
        "25 1 0:20 / /sys rw - sysfs sysfs rw\n"
        "31 25 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
  }
  void version_1(const std::string& path, const std::string& top = "/") {
    group("5:memory:/elsewhere\n3:cpu,cpuacct:" + path + "\n0::/\n");
    mounts("32 31 0:29 " + top +
           " /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
           "33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n");
  }

  test::scratch tree_;
};

TEST_F(cgroup, nothing_there_is_no_limit) { EXPECT_EQ(quota(), std::nullopt); }

TEST_F(cgroup, version_2_quota_over_period) {
  version_2("/user.slice/job");
  file("sys/fs/cgroup/user.slice/job/cpu.max", "150000 100000\n");
  EXPECT_EQ(quota(), 1.5);
}

TEST_F(cgroup, version_2_without_a_limit) {
  version_2("/job");
  file("sys/fs/cgroup/job/cpu.max", "max 100000\n");
  EXPECT_EQ(quota(), std::nullopt);
}

TEST_F(cgroup, the_tightest_level_counts) {
  version_2("/a/b/c");
  file("sys/fs/cgroup/a/cpu.max", "50000 100000\n");
  file("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  file("sys/fs/cgroup/a/b/c/cpu.max", "400000 100000\n");
  EXPECT_EQ(quota(), 0.5);
}

TEST_F(cgroup, every_directory_that_may_limit_is_told) {
  version_2("/a/b");
  const auto at = tree_.path() / "sys/fs/cgroup";
  EXPECT_EQ(detail::cgroup_directories(tree_.path()),
            (std::vector<std::filesystem::path>{at / "a/b", at / "a", at}));
}

TEST_F(cgroup, the_own_group_alone_knows_nothing_of_those_above) {
  version_2("/a/b");
  file("sys/fs/cgroup/a/cpu.max", "50000 100000\n");
  EXPECT_EQ(detail::own_cgroup_quota(tree_.path()), std::nullopt);
  file("sys/fs/cgroup/a/b/cpu.max", "300000 100000\n");
  EXPECT_EQ(detail::own_cgroup_quota(tree_.path()), 3.0);
  EXPECT_EQ(quota(), 0.5);
}

TEST_F(cgroup, a_container_sees_its_own_group_as_the_top) {
  version_2("/");
  file("sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(quota(), 2.0);
}

TEST_F(cgroup, a_group_outside_the_namespace_falls_back_to_the_mount) {
  version_2("/../other");
  file("sys/fs/cgroup/cpu.max", "300000 100000\n");
  file("sys/fs/other/cpu.max", "100000 100000\n");
  EXPECT_EQ(quota(), 3.0);
}

TEST_F(cgroup, version_1_quota_over_period) {
  version_1("/job");
  file("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "25000\n");
  file("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "10000\n");
  EXPECT_EQ(quota(), 2.5);
}

TEST_F(cgroup, version_1_minus_one_is_no_limit) {
  version_1("/job");
  file("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
  file("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), std::nullopt);
}

TEST_F(cgroup, version_1_in_a_container_with_the_hosts_paths) {
  version_1("/docker/abc", "/docker/abc");
  file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "100000\n");
  file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 1.0);
}

TEST_F(cgroup, cpuset_is_not_cpu) {
  group("3:cpuset:/job\n");
  mounts("33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n");
  file("sys/fs/cgroup/cpuset/job/cpu.cfs_quota_us", "100000\n");
  file("sys/fs/cgroup/cpuset/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), std::nullopt);
}

TEST_F(cgroup, escaped_mount_points) {
  group("0::/\n");
  mounts("31 25 0:26 / /mnt/my\\040groups rw - cgroup2 none rw\n");
  file("mnt/my groups/cpu.max", "100000 100000\n");
  EXPECT_EQ(quota(), 1.0);
}

TEST_F(cgroup, garbage_is_no_limit) {
  for (const auto* text :
       {"", "\n", "abc", "100000", "0 100000", "100000 0", "-5 100000", "\xff\xfe"}) {
    version_2("/job");
    file("sys/fs/cgroup/job/cpu.max", text);
    EXPECT_EQ(quota(), std::nullopt) << text;
  }
  group(":::\n::\n0:\n");
  mounts("- - -\n - cgroup2\n1 2 3 - cgroup2 x y\n");
  EXPECT_EQ(quota(), std::nullopt);
}

TEST(paid_cores, are_rounded_up_but_for_a_twentieth) {
  const machine m = machine::uniform(4);
  const std::pair<std::optional<double>, std::uint32_t> table[] = {
      {std::nullopt, 4}, {0.01, 1}, {1.0, 1}, {1.04, 1}, {1.06, 2}, {2.5, 3}, {4.0, 4}, {1e9, 4}};
  for (const auto& [quota, cores] : table)
    EXPECT_EQ(detail::within_quota(m, quota).core_count(), cores) << quota.value_or(-1);
  EXPECT_EQ(detail::first_cores(m, 3).core_count(), 3u);
  EXPECT_EQ(detail::first_cores(m, 9).core_count(), 4u);
}

TEST(cgroup_live, this_process_has_a_positive_quota_or_none) {
  const auto quota = cgroup_quota_cores();
  EXPECT_TRUE(!quota || *quota > 0);
}

}  // namespace
}  // namespace kilter
