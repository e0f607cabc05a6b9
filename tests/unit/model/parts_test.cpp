// The robust parts one by one: what each does when it is on, and that it does nothing when it is
// off.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <set>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "unit/model/stream.hpp"

namespace kilter {
namespace {

using test::sample;
using test::sliced;
using test::stream;

struct fixture {
  explicit fixture(machine on, table_options o = table_options::robust())
      : m(std::move(on)), t(m, o) {}
  machine m;
  model::tables t;
  model::row_id row = t.row("body", 0);
  place_id at(core_id leader, std::uint32_t width) const { return *m.find({leader, width}); }
  void learn(place_id p, double seconds, int times, double& now_s) {
    for (int i = 0; i < times; ++i) t.learn(row, p, sample(seconds), now_s += seconds);
  }
};

// ---- neutral prior ----

TEST(neutral_prior, an_empty_row_reads_alike_everywhere_and_never_as_free) {
  fixture f(machine::from_platform("jetson-tx2"));
  for (place_id p = 0; p < f.m.places().size(); ++p) {
    EXPECT_GT(f.t.time_s(f.row, p), 0.0);
    EXPECT_GE(f.t.time_s(f.row, p) * f.m.at(p).width, f.t.time_s(f.row, 0))
        << "an unknown width must not look cheaper";
  }
}

TEST(neutral_prior, peers_first_then_other_widths_then_other_clusters) {
  fixture f(test::two_kinds(2, 4));
  double now_s = 0.0;
  f.learn(f.at(0, 1), 1e-3, 4, now_s);
  EXPECT_NEAR(f.t.time_s(f.row, f.at(1, 1)), 1e-3, 1e-5);
  EXPECT_NEAR(f.t.time_s(f.row, f.at(0, 2)), 0.5e-3, 0.05e-3);
  EXPECT_NEAR(f.t.time_s(f.row, f.at(3, 1)), 2e-3, 1e-5) << "the kind is said to be half as fast";
  f.learn(f.at(2, 1), 3e-3, 4, now_s);
  EXPECT_NEAR(f.t.time_s(f.row, f.at(3, 1)), 3e-3, 1e-5);
  EXPECT_NEAR(f.t.time_s(f.row, f.at(2, 4)), 0.75e-3, 0.075e-3);
  EXPECT_NEAR(f.t.time_s(f.row, f.at(0, 1)), 1e-3, 1e-5)
      << "another cluster's time is no news for one that is known";
}

TEST(neutral_prior, off_means_unexplored_reads_zero) {
  auto o = table_options::robust();
  o.neutral_prior = false;
  fixture f(machine::uniform(4), o);
  double now_s = 0.0;
  f.learn(f.at(0, 1), 1e-3, 20, now_s);
  for (place_id p = 0; p < f.m.places().size(); ++p)
    if (p != f.at(0, 1)) {
      EXPECT_EQ(f.t.time_s(f.row, p), 0.0);
    }
  EXPECT_EQ(f.t.settle(f.row, f.at(2, 2), objective::cost, now_s), f.at(2, 2))
      << "unexplored places are taken at once";
}

TEST(neutral_prior, works_with_the_moving_average_too) {
  auto o = table_options::paper();
  o.neutral_prior = true;
  fixture f(machine::uniform(2), o);
  double now_s = 0.0;
  f.learn(f.at(0, 1), 1e-3, 1, now_s);
  EXPECT_NEAR(f.t.time_s(f.row, f.at(1, 1)), 1e-3, 1e-6);
  f.learn(f.at(1, 1), 2e-3, 1, now_s);
  EXPECT_EQ(f.t.time_s(f.row, f.at(1, 1)), 2e-3)
      << "a guess is replaced by the first sample, not averaged with it";
}

// ---- lost time ----

TEST(lost_time, a_small_gain_moves_nothing_and_a_real_one_only_after_a_millisecond) {
  fixture f(test::two_kinds(1, 1));
  f.t.preset(f.row, 0, 100e-6);
  f.t.preset(f.row, 1, 100e-6);
  ASSERT_EQ(f.t.settle(f.row, 0, objective::cost, 0.0), 0u);
  f.t.preset(f.row, 1, 95e-6);
  for (int i = 0; i < 1000; ++i)
    ASSERT_EQ(f.t.settle(f.row, 1, objective::cost, 1e-6 * i), 0u) << "5 % is not worth a move";
  f.t.preset(f.row, 1, 50e-6);
  int decisions = 0;
  while (f.t.settle(f.row, 1, objective::cost, 1e-3 + 1e-6 * decisions) == 0 && decisions < 1000)
    ++decisions;
  EXPECT_NEAR(decisions, 19, 2) << "1 ms at 50 us a decision";
}

TEST(lost_time, what_was_lost_is_forgotten_when_the_gain_vanishes) {
  fixture f(test::two_kinds(1, 1));
  f.t.preset(f.row, 0, 100e-6);
  f.t.preset(f.row, 1, 50e-6);
  ASSERT_EQ(f.t.settle(f.row, 0, objective::cost, 0.0), 0u);
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 15; ++i) ASSERT_EQ(f.t.settle(f.row, 1, objective::cost, 1e-6), 0u);
    ASSERT_EQ(f.t.settle(f.row, 0, objective::cost, 1e-6), 0u);
  }
}

TEST(lost_time, off_means_the_best_is_taken) {
  auto o = table_options::robust();
  o.lost_time = o.ageing = false;
  fixture f(machine::uniform(2), o);
  for (place_id p = 0; p < 3; ++p) EXPECT_EQ(f.t.settle(f.row, p, objective::cost, 0.0), p);
}

TEST(settle, never_returns_a_place_the_task_may_not_use) {
  fixture f(machine::uniform(4));
  const auto wide_only = [](const void* m, place_id p) noexcept {
    return static_cast<const machine*>(m)->at(p).width == 2;
  };
  double now_s = 0.0;
  ASSERT_EQ(f.m.at(f.t.settle(f.row, f.at(0, 1), objective::cost, now_s)).width, 1u);
  for (int i = 0; i < 5000; ++i) {
    const place_id p = f.t.settle(f.row, f.at(2, 2), objective::cost, now_s, {wide_only, &f.m});
    ASSERT_EQ(f.m.at(p).width, 2u);
    f.learn(p, 100e-6, 1, now_s);
  }
}

TEST(settle, leaves_a_wide_place_for_the_core_at_home) {
  fixture f(machine::uniform(2));
  const place_id both = f.at(0, 2), disturbed = f.at(0, 1), home = f.at(1, 1);
  double now_s = 0.0;
  f.learn(disturbed, 1e-3, 40, now_s);
  f.learn(home, 1e-3, 40, now_s);
  f.learn(disturbed, 2e-3, 100, now_s);
  ASSERT_GT(f.t.slowdown(disturbed), 1.5);
  f.learn(both, 0.5e-3, 20, now_s);
  // Nobody runs on core 0 for so long that it reads as whole again.
  for (int i = 0; i < 5000; ++i) (void)f.t.settle(f.row, home, objective::time, now_s += 1e-3);
  ASSERT_EQ(f.t.slowdown(disturbed), 1.0);
  const auto settled = [&](place_id best, int decisions) {
    place_id where = best;
    for (int i = 0; i < decisions; ++i)
      where = f.t.settle(f.row, best, objective::time, now_s += 1e-5);
    return where;
  };
  ASSERT_EQ(settled(both, 20), both);
  f.learn(both, 5e-3, 30, now_s);
  ASSERT_EQ(f.t.time_s(f.row, disturbed), f.t.time_s(f.row, home));
  EXPECT_EQ(settled(disturbed, 20), home)
      << "both promise the same, and core 0 was disturbed not long ago";
}

TEST(settle, slices_lost_at_a_wide_place_do_not_keep_it_from_trying_a_single_core) {
  fixture f(machine::uniform(2));
  const place_id both = f.at(0, 2);
  double now_s = 0.0;
  f.learn(both, 20e-6, 20, now_s);
  const double begin_s = now_s;
  while (now_s - begin_s < 1.0 && f.t.settle(f.row, both, objective::time, now_s) == both) {
    for (int i = 0; i < 200; ++i) f.t.learn(f.row, both, sample(20e-6), now_s += 20e-6);
    f.t.learn(f.row, both, sample(8e-3), now_s += 8e-3);  // one core is away for two slices
  }
  ASSERT_GT(f.t.time_s(f.row, both), 2e-3);
  EXPECT_LT(now_s - begin_s, 0.050) << "virtual seconds before core 0 or 1 alone is tried";
}

// Peers may differ in this: of the cores of one cluster a task may have only some as its home.
TEST(settle, probes_only_the_peers_that_the_task_may_use) {
  fixture f(machine::uniform(4));
  const auto upper_half = [](const void* m, place_id p) noexcept {
    return static_cast<const machine*>(m)->at(p).leader >= 2;
  };
  double now_s = 0.0;
  std::set<place_id> used;
  for (int i = 0; i < 20000; ++i) {
    const place_id p = f.t.settle(f.row, f.at(2, 1), objective::cost, now_s, {upper_half, &f.m});
    ASSERT_GE(f.m.at(p).leader, 2u);
    used.insert(p);
    f.learn(p, 100e-6, 1, now_s);
  }
  EXPECT_GT(used.size(), 1u) << "places of the home are tried";
}

// ---- idle decay ----

TEST(idle_decay, a_core_that_nobody_used_drifts_back) {
  for (const bool on : {true, false}) {
    auto o = table_options::robust();
    o.idle_decay = on;
    fixture f(machine::uniform(2), o);
    stream s(f.t, f.m);
    s.disturbances = {sliced(0, 0.05)};
    while (s.now_s < 0.2) s.now_s = s.run(f.row, f.m.single(0), s.now_s);
    ASSERT_GT(f.t.slowdown(0), 1.5);
    const double from_s = s.now_s;
    while (s.now_s < from_s + 0.15) s.now_s = s.run(f.row, f.m.single(1), s.now_s);
    if (on)
      EXPECT_LT(f.t.slowdown(0), 1.1);
    else
      EXPECT_GT(f.t.slowdown(0), 1.5);
  }
}

TEST(idle_decay, a_core_that_runs_one_long_body_is_not_idle) {
  fixture f(machine::uniform(2));
  stream s(f.t, f.m);
  s.cpu_time = true;
  s.body_s = 0.040;
  s.disturbances = {sliced(0)};
  for (int i = 0; i < 5; ++i) s.now_s = s.run(f.row, f.m.single(0), s.now_s);
  ASSERT_GT(f.t.slowdown(0), 1.6);
  s.body_s = 16e-6;  // meanwhile core 0 is inside its next body of 80 ms
  const auto other = f.t.row("short", 0);
  const double from_s = s.now_s;
  while (s.now_s < from_s + 0.080) s.now_s = s.run(other, f.m.single(1), s.now_s);
  EXPECT_GT(f.t.slowdown(0), 1.6);
}

TEST(idle_decay, begins_8_ms_after_the_last_task_and_then_follows_its_time_constant) {
  fixture f(machine::uniform(2));
  stream s(f.t, f.m);
  s.disturbances = {test::slowed(0, 2.0, 0.1)};
  while (s.now_s < 0.2) s.now_s = s.run(f.row, f.m.single(0), s.now_s);
  const double measured = f.t.slowdown(0);
  ASSERT_GT(measured, 1.5);
  f.t.refresh(s.now_s + 0.007);
  EXPECT_EQ(f.t.slowdown(0), measured);
  const double a_constant = 1.0 - (1.0 - 1.0 / measured) * std::exp(-1.0);
  f.t.refresh(s.now_s + 0.008 + f.t.options().idle_decay_s);
  EXPECT_NEAR(1.0 / f.t.slowdown(0), a_constant, 0.01);
}

// ---- noise ----

TEST(noise, bodies_whose_work_varies_do_not_wander) {
  for (const double body_s : {1e-6, 16e-6}) {
    fixture f(machine::uniform(2));
    stream s(f.t, f.m);
    random_stream draw(7);
    s.work_s = [&](model::row_id, place_id, double) {
      return body_s * (0.7 + 0.6 * draw.uniform());
    };
    s.chain(f.row, 2.0);
    int moves = 0;
    for (std::size_t i = 1; i < s.visits.size(); ++i)
      moves += s.visits[i].where != s.visits[i - 1].where;
    EXPECT_LE(moves, 8) << body_s;
    EXPECT_LT(f.t.slowdown(0), 1.12);
    EXPECT_LT(f.t.slowdown(1), 1.12);
  }
}

// ---- housekeeping ----

TEST(robust_table, clear_forgets_times_and_slowdowns_but_keeps_rows) {
  fixture f(machine::uniform(2));
  stream s(f.t, f.m);
  s.disturbances = {sliced(0)};
  s.layers(f.row, 0.2);
  const auto fresh = f.t.row("fresh", 0);
  f.t.clear();
  EXPECT_EQ(f.t.slowdown(0), 1.0);
  EXPECT_EQ(f.t.probing_s(), 0.0);
  EXPECT_TRUE(f.t.snapshot().empty());
  EXPECT_EQ(f.t.row("body", 0), f.row);
  for (place_id p = 0; p < 3; ++p) EXPECT_EQ(f.t.time_s(f.row, p), f.t.time_s(fresh, p));
}

TEST(robust_table, a_preset_cell_reads_as_it_was_set) {
  fixture f(machine::uniform(4));
  for (place_id p = 0; p < f.m.places().size(); ++p) f.t.preset(f.row, p, 1e-3 * (p + 1));
  for (place_id p = 0; p < f.m.places().size(); ++p)
    EXPECT_DOUBLE_EQ(f.t.time_s(f.row, p), 1e-3 * (p + 1));
  EXPECT_EQ(f.t.snapshot().size(), f.m.places().size());
}

TEST(robust_table, a_sample_that_is_no_time_is_ignored) {
  fixture f(machine::uniform(2));
  for (const double bad : {0.0, -1.0, std::nan("")}) f.t.learn(f.row, 0, sample(bad), 1.0);
  EXPECT_TRUE(f.t.snapshot().empty());
}

TEST(robust_table, the_same_stream_gives_the_same_table) {
  const auto run = [] {
    fixture f(machine::uniform(4));
    stream s(f.t, f.m);
    s.moldable = true;
    s.disturbances = {sliced(1, 0.02)};
    s.layers(f.row, 0.1, 3);
    return f.t.snapshot();
  };
  const auto a = run(), b = run();
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].seconds, b[i].seconds);
}

// For ThreadSanitizer; and values that readers see are never torn or absurd.
TEST(robust_table, learns_and_reads_from_many_threads) {
  for (const bool robust : {true, false}) {
    fixture f(machine::uniform(4), robust ? table_options::robust() : table_options::paper());
    std::atomic<int> absurd{0};
    std::vector<std::thread> threads;
    for (core_id worker = 0; worker < 4; ++worker)
      threads.emplace_back([&, worker] {
        double now_s = 0.0;
        for (int i = 0; i < 20000; ++i) {
          const auto row =
              i % 64 ? f.row : f.t.row("late", static_cast<std::uint32_t>(i / 64 % 32));
          const double body_s = i % 260 ? 16e-6 : 4e-3;
          now_s += body_s;
          // Two of the four share a place, as two members of overlapping wide places may.
          const place_id where = i % 16 == 0 ? f.at(0, 4) : f.m.single(worker / 2);
          f.t.learn(row, where, sample(body_s), now_s);
          const place_id p = f.t.settle(row, f.m.single(worker), objective::cost, now_s);
          const double seconds = f.t.time_s(row, p);
          if (!(seconds >= 0.0 && seconds < 1.0) || !(f.t.slowdown(worker) >= 1.0) ||
              f.t.home(now_s) > 3)
            ++absurd;
          if (i % 5000 == 0) (void)f.t.snapshot();
        }
      });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(absurd, 0);
  }
}

// ---- loops ----

TEST(loops,
     iterations_that_differ_do_not_make_a_core_look_disturbed_but_time_without_the_core_does) {
  fixture f(machine::uniform(2));
  EXPECT_FALSE(f.t.seen(f.row));
  double now_s = 0.0;
  for (int i = 0; i < 20; ++i) f.t.learn_loop(f.row, 0, 1e6, 1e-3, 1e-3, now_s += 1e-3);
  EXPECT_TRUE(f.t.seen(f.row));
  EXPECT_NEAR(f.t.time_s(f.row, f.at(0, 1)), 1e-9, 1e-11);
  EXPECT_NEAR(f.t.time_s(f.row, f.at(1, 1)), 1e-9, 1e-11) << "a peer is as good";
  for (int i = 0; i < 20; ++i) f.t.learn_loop(f.row, 0, 1e6, 4e-3, 4e-3, now_s += 4e-3);
  EXPECT_EQ(f.t.slowdown(0), 1.0);
  for (int i = 0; i < 40; ++i) f.t.learn_loop(f.row, 1, 1e6, 4e-3, 8e-3, now_s += 8e-3);
  EXPECT_NEAR(f.t.slowdown(1), 2.0, 0.1);
  EXPECT_EQ(f.t.slowdown(0), 1.0);
}

TEST(loops, the_papers_table_averages_them_like_any_sample) {
  fixture f(machine::uniform(2), table_options::paper());
  f.t.learn_loop(f.row, 0, 10, 1e-3, 2e-3, 1.0);
  EXPECT_DOUBLE_EQ(f.t.time_s(f.row, f.at(0, 1)), 2e-4);
  f.t.learn_loop(f.row, 0, 10, 1e-3, 1e-3, 2.0);
  EXPECT_DOUBLE_EQ(f.t.time_s(f.row, f.at(0, 1)), (4 * 2e-4 + 1e-4) / 5);
  EXPECT_EQ(f.t.time_s(f.row, f.at(1, 1)), 0.0);
}

}  // namespace
}  // namespace kilter
