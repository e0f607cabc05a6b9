// What learning has to win back, on a deterministic stream of tasks: the two failures of the
// original table first.
#include <gtest/gtest.h>

#include "unit/model/stream.hpp"

namespace kilter {
namespace {

using test::sliced;
using test::slowed;
using test::stream;

struct scene {
  explicit scene(machine on, table_options o = table_options::robust())
      : m(std::move(on)), t(m, o), s(t, m) {}
  machine m;
  model::tables t;
  stream s;
  model::row_id row = t.row("body", 0);
};

class bodies : public testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(, bodies, testing::Values(16e-6, 200e-6, 1e-3));

// ---- failure 1: the place that was slow while the table settled is left ----

TEST_P(bodies, a_core_that_was_slow_while_the_table_settled_is_left) {
  scene a(machine::uniform(2));
  a.s.body_s = GetParam();
  a.s.disturbances = {sliced(0)};
  a.s.chain(a.row, 1.0);
  EXPECT_LT(a.s.lost_s(0.0), 0.012) << "a slice or two, then it must be gone";
  EXPECT_LT(a.s.share(0, 0.1), 0.05);
}

// No other place has ever been seen, and the place in use was slow from its first sample on.
TEST_P(bodies, a_place_that_was_slow_from_its_first_sample_on_is_left) {
  for (const double factor : {1.5, 2.0, 4.0}) {
    scene a(machine::uniform(2));
    a.s.body_s = GetParam();
    a.s.disturbances = {slowed(0, factor)};
    a.s.chain(a.row, 1.0);
    EXPECT_LE(a.s.lost_s(0.0), 0.060) << factor;
    EXPECT_LT(a.s.share(0, 0.5), 0.01) << factor;
  }
}

TEST_P(bodies, without_its_parts_the_failure_is_there) {
  scene a(machine::uniform(2), [] {
    auto o = table_options::robust();
    o.ageing = false;
    return o;
  }());
  a.s.body_s = GetParam();
  a.s.disturbances = {slowed(0, 2.0)};
  a.s.chain(a.row, 1.0);
  EXPECT_GT(a.s.lost_s(0.0), 0.4) << "the stream does not exercise the failure";
}

// ---- failure 2: the place that became fast again is found ----

void expect_found_again(scene& a, double freed_s) {
  a.s.chain(a.row, freed_s + 2.0);
  EXPECT_LT(a.s.share(0, freed_s - 1.0, freed_s), 0.15) << "should have left the disturbed core";
  EXPECT_GT(a.s.share(0, freed_s + 1.0), 0.98)
      << "the fast core was not found again within a second";
  EXPECT_LT(a.t.probing_s(), 0.01 * a.s.now_s);
}

TEST_P(bodies, a_fast_core_that_is_free_again_is_found_within_a_second) {
  scene a(test::two_kinds(1, 1));
  a.s.work_s = [&](model::row_id, place_id p, double) {
    return a.m.at(p).leader == 0 ? GetParam() : 1.5 * GetParam();
  };
  a.s.disturbances = {sliced(0, 0.3, 2.3)};
  expect_found_again(a, 2.3);
}

TEST_P(bodies, a_slow_clock_that_is_over_is_found_within_a_second) {
  scene a(test::two_kinds(1, 1));
  a.s.work_s = [&](model::row_id, place_id p, double) {
    return a.m.at(p).leader == 0 ? GetParam() : 1.5 * GetParam();
  };
  a.s.disturbances = {slowed(0, 3.0, 0.3, 3.3)};
  expect_found_again(a, 3.3);
}

// The table has only ever seen the fast core while it was slow.
TEST_P(bodies, a_fast_core_that_was_slow_from_the_start_is_found_within_a_second) {
  scene a(test::two_kinds(1, 1));
  a.s.work_s = [&](model::row_id, place_id p, double) {
    return a.m.at(p).leader == 0 ? GetParam() : 1.5 * GetParam();
  };
  a.s.disturbances = {slowed(0, 3.0, 0.0, 2.0)};
  expect_found_again(a, 2.0);
}

// ---- moving ----

TEST_P(bodies, a_change_costs_at_most_eight_milliseconds) {
  scene a(machine::uniform(2));
  a.s.body_s = GetParam();
  a.s.chain(a.row, 0.5);
  const core_id used = a.s.share(0, 0.4) > 0.5 ? 0 : 1;
  a.s.disturbances = {sliced(used, a.s.now_s)};
  a.s.chain(a.row, 1.0);
  EXPECT_LE(a.s.lost_s(0.5), 0.0081);
}

TEST_P(bodies, beside_a_co_runner_critical_tasks_run_on_the_free_core) {
  scene a(machine::uniform(2));
  a.s.body_s = GetParam();
  a.s.disturbances = {sliced(0)};
  a.s.layers(a.row, 1.0);
  EXPECT_LT(a.s.share(0, 0.05), 0.05);
}

TEST_P(bodies, a_co_runner_that_hops_is_followed) {
  scene a(machine::uniform(2));
  a.s.body_s = GetParam();
  for (int i = 0; i < 10; ++i) a.s.disturbances.push_back(sliced(i % 2, 0.3 * i, 0.3 * (i + 1)));
  a.s.layers(a.row, 3.0);
  EXPECT_LE(a.s.lost_s(0.0), 10 * 0.012)
      << "three slices a hop: one core has to be believed bad, the other good";
}

TEST_P(bodies, a_wave_costs_little_more_than_its_edges) {
  scene a(machine::uniform(2));
  a.s.body_s = GetParam();
  for (int i = 0; i < 4; ++i)
    a.s.disturbances.push_back(sliced(0, 0.5 + i, 1.0 + i, 0.0017, 0.0083));
  a.s.chain(a.row, 4.5);
  EXPECT_LE(a.s.lost_s(0.0), 0.045);
}

TEST_P(bodies, two_disturbed_cores_do_not_make_it_ping_pong) {
  scene a(machine::uniform(2));
  a.s.body_s = GetParam();
  a.s.disturbances = {sliced(0), sliced(1, 0.002)};
  a.s.chain(a.row, 2.0);
  int moves = 0;
  for (std::size_t i = 1; i < a.s.visits.size(); ++i)
    moves += a.s.visits[i].where != a.s.visits[i - 1].where;
  // A move costs a worker's wake-up and a cold cache: 100 us is generous.
  EXPECT_LT(moves * 100e-6, 0.02 * a.s.now_s) << moves << " moves";
  EXPECT_GT(a.s.done_s(0.0) / a.s.now_s, 0.48) << "no worse than staying";
}

TEST(streams, a_lone_gap_does_not_send_it_to_a_slower_core) {
  scene a(test::two_kinds(1, 1));
  a.s.work_s = [&](model::row_id, place_id p, double) {
    return a.m.at(p).leader == 0 ? 16e-6 : 32e-6;
  };
  a.s.chain(a.row, 0.3);
  a.s.disturbances = {sliced(0, 0.3, 0.31, 0.0, 0.010)};
  a.s.chain(a.row, 0.5);
  EXPECT_GT(a.s.share(0, 0.31), 0.97);
}

TEST(streams, one_core_works) {
  scene a(machine::uniform(1));
  a.s.disturbances = {sliced(0, 0.1)};
  a.s.chain(a.row, 0.5);
  EXPECT_EQ(a.s.share(0, 0.0), 1.0);
  EXPECT_EQ(a.t.home(1.0), 0u);
  EXPECT_EQ(a.t.probing_s(), 0.0);
}

TEST(streams, sixty_four_cores_are_not_all_tried) {
  for (const double body_s : {16e-6, 1e-3}) {
    scene a(machine::uniform(64));
    a.s.body_s = body_s;
    a.s.moldable = true;
    a.s.work_s = [&](model::row_id, place_id, double) { return body_s; };  // width gains nothing
    a.s.chain(a.row, 2.0);
    EXPECT_LT(a.t.probing_s(), 0.01 * a.s.now_s) << body_s;
    EXPECT_LT(a.t.explored(), 200u);
    double wide_s = 0.0;
    for (const auto& v : a.s.visits)
      wide_s += a.m.at(v.where).width > 1 ? v.end_s - v.start_s : 0.0;
    EXPECT_LT(wide_s, 0.01 * a.s.now_s) << body_s;
  }
}

// ---- types, kinds, graphs ----

TEST(streams, a_new_type_avoids_the_taken_core_at_its_first_decision) {
  scene a(machine::uniform(2));
  a.s.disturbances = {sliced(0)};
  a.s.layers(a.row, 0.2);
  const auto fresh = a.t.row("never seen", 0);
  EXPECT_GT(a.t.time_s(fresh, a.m.single(0)), 1.3 * a.t.time_s(fresh, a.m.single(1)));
  EXPECT_EQ(a.s.decide(fresh), a.m.single(1));
}

TEST(streams, a_second_graph_starts_on_the_free_core) {
  scene a(machine::uniform(2));
  a.s.disturbances = {sliced(0)};
  a.s.chain(a.row, 0.3);
  for (const double pause : {0.0, 0.05, 1.0, 5.0}) {
    a.s.now_s += pause;
    EXPECT_EQ(a.t.home(a.s.now_s), 1u) << pause;
    EXPECT_EQ(a.s.decide(a.t.row("of the second graph", static_cast<std::uint32_t>(pause * 1000))),
              a.m.single(1))
        << pause;
    EXPECT_EQ(a.s.decide(a.row), a.m.single(1)) << pause;
  }
}

TEST(streams, the_landing_core_is_home_until_it_is_seen_disturbed) {
  scene a(machine::uniform(4));
  a.t.set_landing(2);
  EXPECT_EQ(a.t.home(0.0), 2u);
  EXPECT_EQ(a.s.decide(a.row), a.m.single(2));
  a.s.disturbances = {sliced(2)};
  a.s.chain(a.row, 0.2);
  EXPECT_NE(a.t.home(a.s.now_s), 2u);
}

TEST(streams, a_type_that_is_slower_on_one_kind_does_not_blame_its_cores) {
  scene a(test::two_kinds(2, 2));
  a.s.work_s = [&](model::row_id, place_id p, double) {
    return a.m.at(p).leader < 2 ? 16e-6 : 48e-6;
  };
  for (int i = 0; i < 20000; ++i)
    for (core_id c = 0; c < 4; ++c) a.s.now_s = a.s.run(a.row, a.m.single(c), a.s.now_s);
  for (core_id c = 0; c < 4; ++c) EXPECT_LT(a.t.slowdown(c), 1.02) << c;
  const auto other = a.t.row("other", 0);
  EXPECT_DOUBLE_EQ(2.0 * a.t.time_s(other, a.m.single(0)), a.t.time_s(other, a.m.single(3)))
      << "as the machine states, not as one type found";
  EXPECT_NEAR(a.t.time_s(a.row, a.m.single(3)) / a.t.time_s(a.row, a.m.single(0)), 3.0, 0.1);
}

// ---- long bodies: no sample is undisturbed ----

TEST(streams, long_bodies_that_are_all_stretched_show_the_core_as_taken_by_cpu_time) {
  scene a(machine::uniform(2));
  a.s.body_s = 0.020;
  a.s.cpu_time = true;
  a.s.disturbances = {sliced(0)};
  for (int i = 0; i < 4; ++i) a.s.now_s = a.s.run(a.row, a.m.single(0), a.s.now_s);
  EXPECT_GT(a.t.slowdown(0), 1.5);
  EXPECT_NEAR(a.t.time_s(a.row, a.m.single(1)), 0.020, 0.002);
}

TEST(streams, long_bodies_that_are_all_stretched_show_the_core_as_taken_by_its_peers) {
  scene a(machine::uniform(2));
  a.s.body_s = 0.020;
  a.s.disturbances = {sliced(0)};
  a.s.layers(a.row, 1.0);
  EXPECT_GT(a.t.slowdown(0), 1.5);
  EXPECT_LT(a.t.slowdown(1), 1.05);
  EXPECT_LT(a.s.share(0, 0.3), 0.05);
}

TEST(streams, a_chain_of_long_bodies_leaves_the_taken_core) {
  for (const bool cpu_time : {true, false}) {
    scene a(machine::uniform(2));
    a.s.body_s = 0.020;
    a.s.cpu_time = cpu_time;
    a.s.disturbances = {sliced(0)};
    a.s.chain(a.row, 2.0);
    EXPECT_LE(a.s.lost_s(0.0), cpu_time ? 0.045 : 0.100) << cpu_time;
  }
}

// ---- work that changes ----

TEST_P(bodies, heavier_work_is_followed_and_blames_nobody_for_long) {
  scene a(machine::uniform(2));
  a.s.work_s = [&](model::row_id, place_id, double now) {
    return now < 0.5 ? GetParam() : 3.0 * GetParam();
  };
  a.s.layers(a.row, 3.0);
  EXPECT_LT(a.t.slowdown(0), 1.1);
  EXPECT_LT(a.t.slowdown(1), 1.1);
  EXPECT_NEAR(a.t.time_s(a.row, a.m.single(0)), 3.0 * GetParam(), 0.3 * GetParam());
}

TEST_P(bodies, lighter_work_is_followed_at_once) {
  scene a(machine::uniform(2));
  a.s.work_s = [&](model::row_id, place_id, double now) {
    return now < 0.5 ? GetParam() : GetParam() / 3.0;
  };
  a.s.layers(a.row, 0.6);
  EXPECT_NEAR(a.t.time_s(a.row, a.m.single(1)), GetParam() / 3.0, 0.05 * GetParam());
}

// ---- widths ----

struct wide_scene : scene {
  wide_scene() : scene(machine::uniform(4)) {
    s.moldable = true;
    s.minimise = objective::time;
  }
};

TEST_P(bodies, a_wide_place_that_became_four_times_slower_is_left_and_blames_no_core) {
  wide_scene a;
  a.s.work_s = [&](model::row_id, place_id p, double now) {
    const double w = a.m.at(p).width;
    return GetParam() / (w == 4 && now > 0.5 && now < 3.0 ? 0.25 * w : w);
  };
  a.s.chain(a.row, 1.5);
  const auto on_four = [&](double from, double to) {
    double on = 0.0, all = 0.0;
    for (const auto& v : a.s.visits)
      if (v.start_s >= from && v.start_s < to) {
        all += v.end_s - v.start_s;
        on += a.m.at(v.where).width == 4 ? v.end_s - v.start_s : 0.0;
      }
    return on / all;
  };
  EXPECT_GT(on_four(0.1, 0.5), 0.9);
  EXPECT_LT(on_four(0.6, 1.5), 0.05);
  for (core_id c = 0; c < 4; ++c) EXPECT_LT(a.t.slowdown(c), 1.05);
  a.s.chain(a.row, 3.0);
  EXPECT_GT(on_four(4.0, 4.5), 0.9)
      << "the width that became fast again was not found within a second";
  EXPECT_LT(a.t.probing_s(), 0.01 * a.s.now_s);
}

/// Two cores, of which both together are faster until one goes away in the middle of a task, some
/// milliseconds after it was last left alone.
struct stalling_scene : scene {
  stalling_scene() : scene(machine::uniform(2)) {
    s.body_s = 30e-6;
    s.moldable = true;
    s.minimise = objective::time;
    s.work_s = [this](model::row_id, place_id p, double now) {
      if (m.at(p).width == 1) return s.body_s;
      if (now - last_wide_s > 0.020) since_s = now;
      last_wide_s = now;
      const bool stalls = now > stalls_until_s ? false : now - since_s > 0.002;
      if (stalls) {
        ++stalled;
        since_s = now + 0.010;
      }
      return stalls ? 0.010 : s.body_s / 2;
    };
  }
  double last_wide_s = -1.0, since_s = 0.0, stalls_until_s = 4.0;
  int stalled = 0;
};

TEST(streams,
     a_wide_place_that_stalls_is_tried_again_within_the_budget_and_found_again_within_a_second) {
  stalling_scene a;
  for (int i = 0; i < 4; ++i) a.s.now_s = a.s.run(a.row, a.m.single(1), a.s.now_s);
  a.s.chain(a.row, 4.0);
  EXPECT_LE(a.stalled, 14) << "each costs 10 ms, of 4 s";
  EXPECT_GE(a.stalled, 2) << "it is tried again";
  a.s.chain(a.row, 2.0);
  EXPECT_GT(a.s.share(0, 5.5), 0.5);
  double wide_s = 0.0;
  for (const auto& v : a.s.visits)
    if (v.start_s > 5.5 && a.m.at(v.where).width == 2) wide_s += v.end_s - v.start_s;
  EXPECT_GT(wide_s, 0.4) << "of half a second";
}

TEST(streams, a_disturbed_member_slows_a_wide_place_by_its_share_only) {
  scene a(machine::uniform(2));
  a.s.disturbances = {sliced(0)};
  a.s.layers(a.row, 0.3);
  const auto wide = *a.m.find({0, 2});
  const double ratio = a.t.time_s(a.row, wide) * 2.0 / a.t.time_s(a.row, a.m.single(1));
  EXPECT_GT(ratio, 1.2);
  EXPECT_LT(ratio, 1.5);
}

}  // namespace
}  // namespace kilter
