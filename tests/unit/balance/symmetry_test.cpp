// S3, section 6: thread-groups as in Fig. 10, and what SymInst and SymLock can and cannot be.

#include <gtest/gtest.h>
#include <algorithm>
#include <cmath>

#include "balance/symmetry.hpp"

using namespace kilter::balance;

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
