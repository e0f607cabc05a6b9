// The slices in which a neighbour takes a core.

#include <gtest/gtest.h>

#include "model/slices.hpp"
#include "model/tables.hpp"

namespace kilter::model {
namespace {

/// Gaps that begin so many milliseconds after one another, over and over, and last half of that;
/// the beginning of the last one.
double cut(slices& s, std::initializer_list<double> distances_ms, int times) {
  double begin_s = 0.0;
  s.gap(0, begin_s, begin_s + 0.5e-3 * *distances_ms.begin());
  for (int i = 0; i < times; ++i)
    for (const double distance_ms : distances_ms) {
      begin_s += distance_ms * 1e-3;
      s.gap(0, begin_s, begin_s + 0.5e-3 * distance_ms);
    }
  return begin_s;
}

TEST(slices, a_task_that_fits_before_the_next_gap_loses_nothing) {
  slices s(2);
  const double begin_s = cut(s, {8.0}, 6);
  EXPECT_DOUBLE_EQ(s.expected_gap_s(0, begin_s + 0.005, 0.002, begin_s + 0.005), 0.0);
  EXPECT_NEAR(s.expected_gap_s(0, begin_s + 0.007, 0.002, begin_s + 0.007), 0.004, 1e-9);
  EXPECT_NEAR(s.expected_gap_s(0, begin_s + 0.005, 0.010, begin_s + 0.005), 0.008, 1e-9)
      << "two of them";
  EXPECT_NEAR(s.expected_gap_s(0, begin_s + 0.001, 0.001, begin_s + 0.001), 0.003, 1e-9)
      << "in the middle of a gap: what is left of it";
  EXPECT_LT(s.expected_gap_s(1, begin_s, 0.001, begin_s), 0.0)
      << "nothing is known of the other core";
}

TEST(slices, gaps_begin_in_a_rhythm_though_they_end_anywhere) {
  slices s(1);
  for (int i = 0; i < 8; ++i) s.gap(0, 0.008 * i, 0.008 * i + (i % 2 ? 0.0035 : 0.005));
  EXPECT_DOUBLE_EQ(s.expected_gap_s(0, 0.062, 0.001, 0.062), 0.0);
  EXPECT_GT(s.expected_gap_s(0, 0.0635, 0.001, 0.0635), 0.003);
}

TEST(slices, a_gap_that_nobody_saw_does_not_end_the_rhythm) {
  slices s(1);
  double begin_s = cut(s, {4.0}, 6);
  begin_s += 0.008;
  s.gap(0, begin_s, begin_s + 0.002);
  EXPECT_DOUBLE_EQ(s.expected_gap_s(0, begin_s + 0.0025, 0.001, begin_s + 0.0025), 0.0);
  EXPECT_NEAR(s.expected_gap_s(0, begin_s + 0.0035, 0.001, begin_s + 0.0035), 0.0023, 0.0005);
}

TEST(slices, one_that_is_due_has_begun_until_the_core_is_seen_at_work) {
  slices s(1);
  const double begin_s = cut(s, {8.0}, 6);
  EXPECT_NEAR(s.expected_gap_s(0, begin_s + 0.0095, 0.001, begin_s + 0.0075), 0.0025, 1e-9)
      << "what is left of it";
  EXPECT_DOUBLE_EQ(s.expected_gap_s(0, begin_s + 0.0095, 0.001, begin_s + 0.0092), 0.0);
  EXPECT_DOUBLE_EQ(s.expected_gap_s(0, begin_s + 0.0125, 0.001, begin_s + 0.0075), 0.0)
      << "it is over";
}

TEST(slices, an_irregular_neighbour_is_no_pattern) {
  slices s(1);
  const double begin_s = cut(s, {5.0, 13.0, 7.0}, 4);
  EXPECT_LT(s.expected_gap_s(0, begin_s + 0.004, 0.001, begin_s + 0.004), 0.0);
}

TEST(slices, where_no_task_is_whole_the_core_is_slow_and_the_rhythm_that_of_the_tasks) {
  slices s(1);
  double begin_s = cut(s, {2.6}, 6);
  const auto another = [&] {
    begin_s += 0.0026;
    s.gap(0, begin_s, begin_s + 0.001, false);
    return s.expected_gap_s(0, begin_s + 0.0012, 0.001, begin_s + 0.0012);
  };
  EXPECT_GE(another(), 0.0) << "two gaps may come so close once";
  for (int i = 0; i < 12; ++i) EXPECT_LT(another(), 0.0);
}

TEST(slices, after_four_periods_without_a_gap_the_core_is_left_alone) {
  slices s(1);
  const double begin_s = cut(s, {8.0}, 6);
  EXPECT_GT(s.expected_gap_s(0, begin_s + 0.023, 0.010, begin_s + 0.023), 0.0);
  EXPECT_DOUBLE_EQ(s.expected_gap_s(0, begin_s + 0.033, 0.010, begin_s + 0.033), 0.0);
}

TEST(slices, a_pause_is_no_period) {
  slices s(1);
  const double begin_s = cut(s, {8.0}, 6);
  s.gap(0, begin_s + 1.0, begin_s + 1.004);
  EXPECT_LT(s.expected_gap_s(0, begin_s + 1.005, 0.010, begin_s + 1.005), 0.0)
      << "the new pattern has to show itself";
}

/// What is said of the next task on core 0 after tasks of 1 ms there, each with so many
/// milliseconds without the core, 1.6 ms apart.
double expected_after(std::initializer_list<double> lost_ms) {
  const machine m = machine::uniform(2);
  tables t(m, table_options::robust());
  const row_id r = t.row("task", 0);
  double now_s = 0.0;
  const auto run = [&](double seconds) {
    now_s += seconds;
    t.learn(r, m.single(0), {.sample_s = seconds, .leader_s = seconds, .span_s = seconds}, now_s);
    now_s += 0.0016;
  };
  for (int i = 0; i < 20; ++i) run(0.001);
  for (int i = 0; i < 8; ++i)
    for (const double ms : lost_ms) run(0.001 + 1e-3 * ms);
  return t.gap_s(0, now_s, 0.001, true);
}

TEST(slices, are_seen_in_tasks_that_are_cut_between_whole_ones) {
  EXPECT_GE(expected_after({2.0, 0.0, 0.0}), 0.0);
  EXPECT_LT(expected_after({1.0}), 0.0) << "twice as slow, whatever the task";
}

}  // namespace
}  // namespace kilter::model
