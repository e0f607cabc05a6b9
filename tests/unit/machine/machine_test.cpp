// Places and numbering: what every policy and every trace table indexes by.

#include <algorithm>
#include <set>

#include "unit/machine/support.hpp"

namespace kilter {
namespace {

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

}  // namespace
}  // namespace kilter
