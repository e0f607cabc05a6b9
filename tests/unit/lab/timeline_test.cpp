#include "measuring/timeline.hpp"

#include <gtest/gtest.h>

namespace kilter::lab {
namespace {

const machine two = machine::uniform(2);

speed half_of_core_0(active_set set) {
  return set == 0 ? speed{2000.0, 1000.0} : speed{1500.0, 1000.0};
}

TEST(bound, is_the_longer_of_work_and_path) {
  EXPECT_DOUBLE_EQ(bound_s({}, 2000, 10, half_of_core_0), 1.0);
  EXPECT_DOUBLE_EQ(bound_s({}, 2000, 1500, half_of_core_0), 1.5);
}

TEST(bound, of_a_steady_disturbance_uses_what_is_left) {
  const auto parts = parse_disturbances("cpu@0", two);
  EXPECT_NEAR(bound_s(parts, 3000, 1500, half_of_core_0), 2.0, 1e-9);
}

TEST(bound, of_a_wave_counts_its_full_speed_half_first) {
  const auto parts = parse_disturbances("wave@0:17%,0.5", two);
  EXPECT_NEAR(bound_s(parts, 1000, 1, half_of_core_0), 0.5, 1e-9)
      << "a run within the first half is undisturbed";
  EXPECT_NEAR(bound_s(parts, 1000 + 750 + 1000, 1, half_of_core_0), 1.5, 1e-9);
}

TEST(bound, of_a_window_in_seconds_and_in_fractions) {
  EXPECT_NEAR(bound_s(parse_disturbances("cpu@0@1..2", two), 2000 + 1500 + 500, 1, half_of_core_0),
              2.25, 1e-9);
  EXPECT_NEAR(bound_s(parse_disturbances("cpu@0@25%..75%", two), 3500, 1, half_of_core_0), 2.0,
              1e-6);
}

TEST(bound, never_hangs_when_a_wave_leaves_nothing) {
  const auto parts = parse_disturbances("wave@0:10%,0.02", two);
  EXPECT_NEAR(bound_s(parts, 1000, 1,
                      [](active_set set) {
                        return set == 0 ? speed{1000.0, 1000.0} : speed{1e-3, 1e-3};
                      }),
              1.98, 0.05);
}

TEST(timeline, sets_are_the_ones_that_occur_in_the_run) {
  const auto parts = parse_disturbances("cpu@0@1..2+share@1:50%", two);
  EXPECT_EQ(sets_within(parts, 0.5), (std::vector<active_set>{2}));
  EXPECT_EQ(sets_within(parts, 1.5), (std::vector<active_set>{2, 3}));
}

TEST(timeline, a_wave_is_measured_as_the_share_of_its_slow_half) {
  const auto steady = steady_parts(parse_disturbances("wave@0:17%,0.5", two), 1);
  ASSERT_EQ(steady.size(), 1u);
  EXPECT_EQ(to_string(steady[0]), "share@0:17%");
}

}  // namespace
}  // namespace kilter::lab
