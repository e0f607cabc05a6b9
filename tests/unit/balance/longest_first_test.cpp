// S3: who gets the fast cores, and what that is worth in closed form (papers.md F); thread-groups
// as in its Fig. 10, and what SymInst and SymLock can and cannot be.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "balance/longest_first.hpp"
#include "balance/symmetry.hpp"
#include "unit/balance/world.hpp"

using namespace kilter;
using namespace kilter::balance;
using namespace kilter::balance::test;

// ---- who gets the fast cores --------------------------------------------------------------------

namespace {

constexpr double fast_ghz = 1.87, slow_ghz = 1.6;

/// Places a group whose lengths were all announced before the first thread was created.
std::vector<core_id> place_all(scheduler& s, const std::vector<double>& lengths, std::size_t cores,
                               bool critical = false) {
  std::vector<core_id> placed;
  std::vector<std::uint32_t> taken(cores);
  for (std::uint32_t i = 0; i < lengths.size(); ++i) {
    newcomer n{.thread = i, .group = lengths, .index = i};
    (critical ? n.critical_length : n.length) = lengths[i];
    placed.push_back(s.place(n, taken));
    if (placed.back() != no_core) ++taken[placed.back()];
  }
  return placed;
}

/// Time of S3's half-half machine over all-fast, for threads that compute and are joined at the
/// end.
double over_all_fast(const std::string& scheduler, const std::vector<double>& lengths) {
  const machine m = two_kinds(4, 4);
  const auto s = make_scheduler(scheduler, m);
  const auto placed = place_all(*s, lengths, 8);
  double longest = 0.0, longest_fast = 0.0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    longest = std::max(longest, lengths[i] / (placed[i] < 4 ? fast_ghz : slow_ghz));
    longest_fast = std::max(longest_fast, lengths[i] / fast_ghz);
  }
  return longest / longest_fast;
}

std::vector<double> x_y(double x, double y) { return {y, y, y, y, x, x, x, x}; }

}  // namespace

TEST(ljfpf, closed_forms_of_matmul_on_half_half) {
  EXPECT_NEAR(over_all_fast("ljfpf", x_y(300, 300)), 1.1688, 0.00005);
  EXPECT_NEAR(over_all_fast("ljfpf", x_y(310, 290)), 1.0933, 0.00005);
  EXPECT_NEAR(over_all_fast("ljfpf", x_y(320, 280)), 1.0227, 0.00005);
  for (const double x : {330.0, 340.0, 350.0, 360.0})
    EXPECT_NEAR(over_all_fast("ljfpf", x_y(x, 600.0 - x)), 1.0, 0.00005);
}

TEST(ljfpf, closed_forms_of_the_itk_loop) {
  const std::vector<double> itk = {7, 7, 7, 7, 6, 6, 5, 5};
  EXPECT_NEAR(over_all_fast("ljfpf", itk), 1.0018, 0.00005);
  EXPECT_NEAR(over_all_fast("worst", itk), 1.1687, 0.0001);
}

TEST(ljfpf, the_longest_win_and_creation_order_breaks_ties) {
  const machine m = two_kinds(2, 2);
  EXPECT_EQ(place_all(*make_scheduler("ljfpf", m), {1, 5, 5, 5}, 4),
            (std::vector<core_id>{3, 0, 1, 2}));
  EXPECT_EQ(place_all(*make_scheduler("ljfpf", m, {.fast_cores = {3}}), {1, 9}, 4),
            (std::vector<core_id>{0, 3}));
}

TEST(ljfpf, more_threads_than_cores_share_those_with_the_fewest) {
  const machine m = two_kinds(1, 1);
  EXPECT_EQ(place_all(*make_scheduler("ljfpf", m), {1, 2, 3, 4}, 2),
            (std::vector<core_id>{1, 0, 1, 0}));
}

TEST(ljfpf, cores_that_are_taken_are_filled_last) {
  const std::vector<std::uint8_t> fast = {1, 1, 0, 0};
  const std::vector<std::uint32_t> taken = {1, 0, 0, 0};
  EXPECT_EQ(plan_lengths(std::vector<double>{9, 8, 7}, fast, taken),
            (std::vector<core_id>{1, 2, 3}));
}

TEST(ljfpf, where_later_lengths_are_unknown_the_mean_so_far_decides) {
  const machine m = two_kinds(2, 2);
  const auto s = make_scheduler("ljfpf", m);
  const std::vector<double> lengths = {4, 2, 6, 1};
  std::vector<std::uint32_t> taken(4);
  std::vector<core_id> placed;
  for (std::uint32_t i = 0; i < 4; ++i) {
    placed.push_back(s->place(
        {.thread = i, .length = lengths[i], .group = std::span(lengths).first(i + 1), .index = i},
        taken));
    ++taken[placed.back()];
  }
  EXPECT_EQ(placed, (std::vector<core_id>{0, 2, 1, 3}));
}

TEST(ljfpf, a_second_group_is_planned_anew) {
  const machine m = two_kinds(1, 1);
  const auto s = make_scheduler("ljfpf", m);
  EXPECT_EQ(place_all(*s, {1, 2}, 2), (std::vector<core_id>{1, 0}));
  EXPECT_EQ(place_all(*s, {2, 1}, 2), (std::vector<core_id>{0, 1}));
  EXPECT_EQ(place_all(*s, {2, 1}, 2), (std::vector<core_id>{0, 1}));
}

TEST(ljfpf, a_thread_without_a_length_is_left_to_the_operating_system) {
  const machine m = two_kinds(1, 1);
  const std::vector<std::uint32_t> taken(2);
  for (const char* name : {"ljfpf", "cjfpf", "worst"})
    EXPECT_EQ(make_scheduler(name, m)->place({.thread = 0}, taken), no_core);
}

// S3, section 5: the same, by critical sections.
TEST(cjfpf, long_critical_sections_go_to_fast_cores) {
  const machine m = two_kinds(2, 2);
  EXPECT_EQ(place_all(*make_scheduler("cjfpf", m), {8, 12, 8, 12}, 4, true),
            (std::vector<core_id>{2, 0, 3, 1}));
  EXPECT_EQ(place_all(*make_scheduler("ljfpf", m), {8, 12}, 4, true),
            (std::vector<core_id>{no_core, no_core}))
      << "it sorts by lengths";
}

// E50: length as announced at creation; nothing is subtracted while the thread runs.
TEST(ljfpf_idle, an_idle_fast_core_takes_the_longest_thread_of_a_slow_one) {
  const machine m = two_kinds(2, 2);
  const auto s = make_scheduler("ljfpf-idle", m);
  const auto placed = place_all(*s, {9, 8, 3, 5}, 4);
  ASSERT_EQ(placed, (std::vector<core_id>{0, 1, 3, 2}));
  world w{{1, 1, 1, 1}, {}};
  for (const core_id c : placed) w.actors.push_back({.core = c});
  EXPECT_TRUE(s->tick(w.see(0.5)).moves.empty()) << "no fast core is idle";
  w.actors[1].alive = false;
  const answer a = s->tick(w.see(0.5));
  ASSERT_EQ(a.moves.size(), 1u);
  EXPECT_EQ(a.moves[0].thread, 3u);
  EXPECT_EQ(a.moves[0].to, 1u);
  EXPECT_EQ(a.moves[0].why, reason::idle_core);
  w.carry_out(a);
  w.actors[0].runnable = false;  // waits at a barrier: its core is idle too
  EXPECT_EQ(s->tick(w.see(0.5)).moves.size(), 1u);
}

TEST(ljfpf, does_not_move_anybody_later) {
  const machine m = two_kinds(2, 2);
  const auto s = make_scheduler("ljfpf", m);
  (void)place_all(*s, {9, 8, 3, 5}, 4);
  world w{{1, 1, 1, 1}, {{.core = 2}, {.core = 3}}};
  EXPECT_TRUE(s->tick(w.see(0.5)).moves.empty());
}

TEST(rr, goes_through_the_cores_in_the_order_of_the_operating_system) {
  std::vector<core> cores = {{.id = 0, .os_index = 2, .cluster = 0, .kind = 0},
                             {.id = 1, .os_index = 0, .cluster = 1, .kind = 1},
                             {.id = 2, .os_index = 1, .cluster = 1, .kind = 1}};
  const machine m("m", {{0, "fast", 1, 2.0}, {1, "slow", 2, 1.0}}, cores);
  EXPECT_EQ(place_all(*make_scheduler("rr", m), {1, 1, 1, 1}, 3),
            (std::vector<core_id>{1, 2, 0, 1}));
}

TEST(random_order, uses_every_core_once_before_any_twice_and_follows_the_seed) {
  const machine m = machine::uniform(8);
  const std::vector<double> lengths(16, 1.0);
  const auto one = place_all(*make_scheduler("random", m, {.seed = 1}), lengths, 8);
  EXPECT_EQ(one, place_all(*make_scheduler("random", m, {.seed = 1}), lengths, 8));
  EXPECT_NE(one, place_all(*make_scheduler("random", m, {.seed = 2}), lengths, 8));
  for (const std::size_t from : {0u, 8u}) {
    std::vector<core_id> half(one.begin() + from, one.begin() + from + 8);
    std::sort(half.begin(), half.end());
    std::vector<core_id> every(8);
    std::iota(every.begin(), every.end(), 0u);
    EXPECT_EQ(half, every);
  }
}

TEST(pinned, takes_the_core_with_the_fewest_threads_and_none_leaves_all_to_the_system) {
  const machine m = machine::uniform(3);
  const std::vector<std::uint32_t> taken = {1, 0, 0};
  EXPECT_EQ(make_scheduler("pinned", m)->place({}, taken), 1u);
  EXPECT_EQ(make_scheduler("none", m)->place({}, taken), no_core);
}

// ---- symmetry of thread-groups ------------------------------------------------------------------

namespace {

std::uint32_t groups_in(const std::vector<std::uint32_t>& group) {
  return *std::max_element(group.begin(), group.end()) + 1;
}

/// A parent, and `rounds` of four threads that it creates and joins.
std::vector<thread_life> fork_join(int rounds) {
  std::vector<thread_life> lives = {{0.0, 10.0 * rounds + 1.0}};
  for (int r = 0; r < rounds; ++r)
    for (int t = 0; t < 4; ++t) lives.push_back({10.0 * r + 1.0 + 0.1 * t, 10.0 * r + 8.0 + t % 2});
  return lives;
}

}  // namespace

TEST(symmetry, figure_10_case_a_has_two_groups_and_five_threads) {
  const auto group = thread_groups(fork_join(1));
  EXPECT_EQ(group, (std::vector<std::uint32_t>{0, 1, 1, 1, 1}));
}

TEST(symmetry, figure_10_case_b_has_four_groups_and_thirteen_threads) {
  const auto group = thread_groups(fork_join(3));
  EXPECT_EQ(group.size(), 13u);
  EXPECT_EQ(groups_in(group), 4u);
  for (std::uint32_t g = 1; g < 4; ++g) EXPECT_EQ(std::count(group.begin(), group.end(), g), 4);
}

TEST(symmetry, groups_do_not_depend_on_the_order_in_which_threads_are_listed) {
  const std::vector<thread_life> lives = {{0, 9}, {5, 6}, {1, 3}, {2, 4}};
  EXPECT_EQ(thread_groups(lives), (std::vector<std::uint32_t>{0, 2, 1, 1}));
  EXPECT_EQ(thread_groups(std::vector<thread_life>{{0, 1}}), (std::vector<std::uint32_t>{0}));
  EXPECT_TRUE(thread_groups({}).empty());
}

TEST(symmetry, is_the_mean_over_groups_of_deviation_over_total) {
  const std::vector<std::uint32_t> one_group = {0, 0, 0, 0};
  EXPECT_EQ(symmetry(std::vector<double>{5, 5, 5, 5}, one_group), 0.0);
  EXPECT_DOUBLE_EQ(symmetry(std::vector<double>{1, 3, 1, 3}, one_group), 1.0 / 8.0);
  // The parent's group contributes 0 and counts.
  EXPECT_DOUBLE_EQ(
      symmetry(std::vector<double>{100, 1, 3, 1, 3}, std::vector<std::uint32_t>{0, 1, 1, 1, 1}),
      1.0 / 16.0);
  EXPECT_EQ(symmetry(std::vector<double>{0, 0}, std::vector<std::uint32_t>{0, 0}), 0.0);
  EXPECT_EQ(symmetry({}, {}), 0.0);
}

// By this definition Table 4's 0.95 (dedup) and 0.83 (ferret) cannot come out of any counts: the
// most is 1/2.
TEST(symmetry, cannot_exceed_one_half) {
  for (std::uint32_t n = 2; n < 40; ++n) {
    std::vector<double> counts(n);
    counts[0] = 1e6;
    const double all_by_one = symmetry(counts, std::vector<std::uint32_t>(n));
    EXPECT_NEAR(all_by_one, std::sqrt(n - 1.0) / n, 1e-12);
    EXPECT_LE(all_by_one, 0.5);
  }
}
