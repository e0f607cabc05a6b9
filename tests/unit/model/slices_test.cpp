// The slices in which a neighbour takes a core.

#include <gtest/gtest.h>

#include "model/slices.hpp"

namespace kilter::model {
namespace {

/// Gaps of 4 ms after runs of so many milliseconds, over and over; the core is back at the end.
double cut(slices& s, std::initializer_list<double> runs_ms, int times) {
  double now_s = 0.0;
  s.gap(0, now_s - 0.004, now_s);
  for (int i = 0; i < times; ++i)
    for (const double run_ms : runs_ms) {
      now_s += run_ms * 1e-3;
      s.gap(0, now_s, now_s + 0.004);
      now_s += 0.004;
    }
  return now_s;
}

TEST(slices, a_task_that_fits_before_the_next_gap_loses_nothing) {
  slices s(2);
  const double back_s = cut(s, {4.0}, 6);
  EXPECT_TRUE(s.regular(0, back_s));
  EXPECT_DOUBLE_EQ(s.expected_gap_s(0, back_s + 0.001, 0.002), 0.0);
  EXPECT_NEAR(s.expected_gap_s(0, back_s + 0.003, 0.002), 0.004, 1e-9);
  EXPECT_NEAR(s.expected_gap_s(0, back_s + 0.001, 0.010), 0.008, 1e-9) << "two of them";
  EXPECT_NEAR(s.expected_gap_s(0, back_s + 0.005, 0.001), 0.003, 1e-9) << "in the middle of a gap: what is left of it";
  EXPECT_LT(s.expected_gap_s(1, back_s, 0.001), 0.0) << "nothing is known of the other core";
}

TEST(slices, an_irregular_neighbour_is_no_pattern) {
  slices s(1);
  const double back_s = cut(s, {1.0, 9.0, 3.0}, 4);
  EXPECT_LT(s.expected_gap_s(0, back_s, 0.001), 0.0);
  EXPECT_FALSE(s.regular(0, back_s));
}

TEST(slices, after_two_runs_without_a_gap_the_core_is_left_alone) {
  slices s(1);
  const double back_s = cut(s, {4.0}, 6);
  EXPECT_DOUBLE_EQ(s.expected_gap_s(0, back_s + 0.013, 0.010), 0.0);
  EXPECT_FALSE(s.regular(0, back_s + 0.013));
}

TEST(slices, a_pause_is_no_run) {
  slices s(1);
  const double back_s = cut(s, {4.0}, 6);
  s.gap(0, back_s + 1.0, back_s + 1.004);
  EXPECT_LT(s.expected_gap_s(0, back_s + 1.005, 0.010), 0.0) << "the new pattern has to show itself";
}

}  // namespace
}  // namespace kilter::model
