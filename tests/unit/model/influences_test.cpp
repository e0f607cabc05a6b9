// What the model knows beside a type's times: data that are elsewhere, work that is told, slices
// in which a neighbour takes a core, and the slowdown of a core.

#include <gtest/gtest.h>

#include "model/elsewhere.hpp"
#include "model/slices.hpp"
#include "model/tables.hpp"
#include "unit/model/stream.hpp"

namespace kilter::model {
namespace {

// ---- elsewhere: what a type takes more where its data are not -----------------------------------

TEST(elsewhere, is_nothing_until_both_are_known) {
  elsewhere e;
  EXPECT_EQ(e.extra(distance::cluster, 0.0), 0.0);
  for (int i = 0; i < 8; ++i) e.observe(distance::cluster, 3.0, 0.0);
  EXPECT_EQ(e.extra(distance::cluster, 0.0), 0.0) << "nobody ran near its data";
  for (int i = 0; i < 4; ++i) e.observe(distance::none, 1.0, 0.0);
  EXPECT_DOUBLE_EQ(e.extra(distance::cluster, 0.0), 2.0);
  EXPECT_EQ(e.extra(distance::beyond, 0.0), 0.0) << "each distance for itself";
  EXPECT_EQ(e.extra(distance::none, 0.0), 0.0);
  EXPECT_EQ(e.extra(distance::unknown, 0.0), 0.0);
}

TEST(elsewhere, is_counted_from_what_a_task_takes_at_once_while_that_is_seen) {
  elsewhere e;
  for (int i = 0; i < 4; ++i) {
    e.observe(distance::at_hand, 1.0, 0.0);
    e.observe(distance::none, 1.5, 0.0);
    e.observe(distance::cluster, 3.0, 0.0);
  }
  EXPECT_DOUBLE_EQ(e.extra(distance::none, 0.0), 0.5);
  EXPECT_DOUBLE_EQ(e.extra(distance::cluster, 0.0), 2.0);
  EXPECT_EQ(e.extra(distance::at_hand, 0.0), 0.0);
  for (int i = 0; i < 4; ++i) {
    e.observe(distance::none, 1.5, 3.0);
    e.observe(distance::cluster, 3.0, 3.0);
  }
  EXPECT_EQ(e.extra(distance::none, 3.0), 0.0);
  EXPECT_DOUBLE_EQ(e.extra(distance::cluster, 3.0), 1.0);
}

TEST(elsewhere, does_not_show_below_a_twentieth_and_not_by_gaps) {
  elsewhere e;
  for (int i = 0; i < 8; ++i) {
    e.observe(distance::none, 1.0, 0.0);
    e.observe(distance::cluster, i % 3 == 0 ? 40.0 : 1.04, 0.0);
  }
  EXPECT_EQ(e.extra(distance::cluster, 0.0), 0.0);
}

TEST(elsewhere, fades_when_it_is_not_seen_again) {
  elsewhere e;
  for (int i = 0; i < 4; ++i) {
    e.observe(distance::none, 1.0, 5.0);
    e.observe(distance::cluster, 2.0, 5.0);
  }
  EXPECT_DOUBLE_EQ(e.extra(distance::cluster, 6.0), 1.0);
  EXPECT_NEAR(e.extra(distance::cluster, 7.0), 0.37, 0.01);
  EXPECT_EQ(e.extra(distance::cluster, 12.0), 0.0);
}

// Three times as long on both cores, far from the data: the cores are not slowed, and the type's
// time stays what it is near them.
TEST(elsewhere, is_no_slowdown_and_no_longer_time) {
  const machine m = machine::uniform(2);
  tables t(m, table_options::robust());
  const row_id row = t.row("task", 0);
  double now_s = 0.0;
  const auto ran = [&](core_id c, distance d, double seconds) {
    now_s += seconds;
    measured seen = test::sample(seconds);
    seen.from_data = d;
    t.learn(row, m.single(c), seen, now_s);
  };
  for (int i = 0; i < 40; ++i)
    for (core_id c = 0; c < 2; ++c) ran(c, distance::none, 200e-6);
  for (int i = 0; i < 400; ++i)
    for (core_id c = 0; c < 2; ++c) ran(c, distance::cluster, 600e-6);
  EXPECT_NEAR(t.elsewhere(row, distance::cluster, now_s), 2.0, 0.1);
  for (core_id c = 0; c < 2; ++c) {
    EXPECT_NEAR(t.time_s(row, m.single(c)), 200e-6, 10e-6);
    EXPECT_LT(t.slowdown(c), 1.05);
  }
}

// ---- times by work: what one type teaches about another -----------------------------------------

void learn(tables& t, row_id r, place_id p, double seconds, double work, double& now_s) {
  for (int i = 0; i < 4; ++i) {
    now_s += seconds;
    measured seen = test::sample(seconds);
    seen.work = work;
    t.learn(r, p, seen, now_s);
  }
}

TEST(times_by_work, tasks_of_one_type_that_differ_agree_on_a_unit) {
  const machine m = machine::uniform(2);
  tables t(m, table_options::robust());
  const row_id r = t.row("a", 0);
  double now_s = 0.0;
  learn(t, r, m.single(0), 1e-3, 1.0, now_s);
  learn(t, r, m.single(0), 8e-3, 8.0, now_s);
  EXPECT_NEAR(t.time_s(r, m.single(0)), 1e-3, 1e-5);
}

TEST(times_by_work, a_type_that_nobody_has_run_is_guessed_from_the_others) {
  const machine m = machine::uniform(2);
  tables t(m, table_options::robust());
  const row_id known = t.row("known", 0), fresh = t.row("fresh", 0);
  double now_s = 0.0;
  learn(t, known, m.single(0), 6e-3, 3.0, now_s);
  EXPECT_TRUE(t.sampled(known));
  EXPECT_FALSE(t.sampled(fresh));
  EXPECT_NEAR(t.time_s(fresh, m.single(1)), 2e-3, 1e-5);
  learn(t, fresh, m.single(0), 5e-3, 1.0, now_s);
  EXPECT_NEAR(t.time_s(fresh, m.single(0)), 5e-3, 1e-4) << "its own samples count for more";
}

TEST(times_by_work, decisions_about_a_type_that_nobody_has_run_follow_what_the_others_tell_now) {
  const machine m("two clusters", {{0, "core", 0}},
                  {{0, 0, 0, 0, 0}, {1, 1, 0, 0, 0}, {2, 2, 1, 0, 0}, {3, 3, 1, 0, 0}});
  tables t(m, table_options::robust());
  const row_id known = t.row("known", 0), fresh = t.row("fresh", 0);
  double now_s = 0.0;
  const auto cluster_of_best = [&] {
    const place_id best = t.best(fresh, objective::time, widths::all),
                   settled = t.settle(fresh, best, objective::time, now_s, {});
    EXPECT_EQ(best, settled);
    return m.cores()[m.at(settled).leader].cluster;
  };
  learn(t, known, m.single(0), 6e-3, 1.0, now_s);
  learn(t, known, m.single(2), 2e-3, 1.0, now_s);
  EXPECT_EQ(cluster_of_best(), 1u);
}

TEST(times_by_work, tasks_that_tell_no_work_teach_nothing_about_others) {
  const machine m = machine::uniform(2);
  tables t(m, table_options::robust());
  const row_id known = t.row("known", 0), fresh = t.row("fresh", 0);
  const double before_s = t.time_s(fresh, m.single(0));
  double now_s = 0.0;
  learn(t, known, m.single(0), 6e-3, 0.0, now_s);
  EXPECT_DOUBLE_EQ(t.time_s(fresh, m.single(0)), before_s);
}

// ---- slices in which a neighbour takes a core ---------------------------------------------------

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
    t.learn(r, m.single(0), test::sample(seconds), now_s);
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

namespace kilter {
namespace {

// ---- slowdown of a core, on made streams of samples ---------------------------------------------

struct fed_core {
  machine m = machine::uniform(2);
  model::tables t{m, table_options::robust()};
  model::row_id row = t.row("body", 0);
  double now_s = 0.0;
  double slow_s = 0.0;  ///< integral of the slowdown over time
  double first_above = -1.0;

  void sample(double seconds) {
    slow_s += t.slowdown(0) * seconds;
    now_s += seconds;
    t.learn(row, m.single(0), test::sample(seconds), now_s);
    if (first_above < 0.0 && t.slowdown(0) > 1.5) first_above = now_s;
  }
  void undisturbed(double body_s, double seconds) {
    for (const double stop = now_s + seconds; now_s < stop;) sample(body_s);
  }
};

struct pattern {
  double body_s, stretched_s;
  int period;
};
class slowdown_window : public testing::TestWithParam<pattern> {};

// Wherever in its period the disturbance starts.
TEST_P(slowdown_window, follows_a_time_sliced_core) {
  const auto [body_s, stretched_s, period] = GetParam();
  for (int phase = 0; phase < period; phase += period / 10) {
    fed_core f;
    f.undisturbed(body_s, 0.2);
    EXPECT_LT(f.t.slowdown(0), 1.02);
    const double from_s = f.now_s;
    int n = phase;
    const auto next = [&] { f.sample(++n % period == 0 ? stretched_s : body_s); };
    while (f.now_s < from_s + 0.08) next();
    EXPECT_GT(f.first_above, 0.0) << phase;
    EXPECT_LT(f.first_above, from_s + 0.040) << phase;
    for (int block = 0; block < 10; ++block) {
      const double t0 = f.now_s, sum0 = f.slow_s;
      while (f.now_s < t0 + 0.040) next();
      const double mean = (f.slow_s - sum0) / (f.now_s - t0);
      EXPECT_GT(mean, 1.7) << phase << " block " << block;
      EXPECT_LT(mean, 2.3) << phase << " block " << block;
    }
    f.undisturbed(body_s, 0.060);
    EXPECT_LT(f.t.slowdown(0), 1.15)
        << "still spoiled 60 ms after the disturbance, phase " << phase;
  }
}
INSTANTIATE_TEST_SUITE_P(, slowdown_window,
                         testing::Values(pattern{16e-6, 4e-3, 260}, pattern{1e-3, 10e-3, 10}));

TEST(slowdown, one_lone_gap_is_forgotten) {
  fed_core f;
  f.undisturbed(16e-6, 0.2);
  f.sample(10e-3);
  f.undisturbed(16e-6, 0.1);
  EXPECT_LT(f.t.slowdown(0), 1.10);
  EXPECT_NEAR(f.t.time_s(f.row, f.m.single(0)), 16e-6, 0.05 * 16e-6);
}

TEST(slowdown, very_short_tasks_count_their_gaps_too) {
  fed_core f;
  f.undisturbed(100e-9, 0.05);
  for (int gap = 0; gap < 20; ++gap) {
    f.undisturbed(100e-9, 4e-3);
    f.sample(4e-3);
  }
  EXPECT_GT(f.t.slowdown(0), 1.7);
  EXPECT_LT(f.t.slowdown(0), 2.4);
}

TEST(slowdown, is_one_without_two_factors) {
  const machine m = machine::uniform(2);
  auto o = table_options::robust();
  o.two_factors = false;
  model::tables t(m, o);
  const auto r = t.row("a", 0);
  for (int i = 0; i < 100; ++i) t.learn(r, 0, test::sample(i % 2 ? 1e-3 : 5e-3), i * 5e-3);
  EXPECT_EQ(t.slowdown(0), 1.0);
  EXPECT_GT(t.time_s(r, 0), 1e-3);
}

}  // namespace
}  // namespace kilter
