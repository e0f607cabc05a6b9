// Disturbances: when they are at work; cores that go away and come back, and quotas.

#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "sim/disturbance.hpp"
#include "sim/engine.hpp"
#include "unit/sim/world.hpp"

namespace kilter::sim {
namespace {

using namespace test;

// ---- when they are at work ----------------------------------------------------------------------

/// The times at which the disturbance changes up to `until_s`, in milliseconds: "+" it is at work
/// from then on, "-" no more.
std::string changes(const disturbance& d, double until_s) {
  disturbance_phase p(d);
  std::string all = p.active() ? "+0" : "";
  bool active = p.active();
  while (p.next_change() <= to_time(until_s)) {
    const auto ms = p.next_change() / 1'000'000'000;
    p.advance();
    if (p.active() != active)
      all += (all.empty() ? "" : " ") + std::string(p.active() ? "+" : "-") + std::to_string(ms);
    active = p.active();
  }
  return all;
}

TEST(disturbance_phase, a_co_runner_and_the_worker_have_the_core_in_turn) {
  EXPECT_EQ(changes({.cores = {0}, .slice_s = 0.004, .offset_s = 0.001}, 0.020),
            "+1 -5 +9 -13 +17");
  EXPECT_EQ(changes({.cores = {0}, .slice_s = 0.004, .offset_s = 0.0}, 0.010), "+0 -4 +8");
}

TEST(disturbance_phase, a_wave_begins_with_its_full_half) {
  EXPECT_EQ(
      changes({.what = disturbance::kind::clock, .cores = {0}, .left = 0.2, .half_period_s = 5},
              21),
      "+5000 -10000 +15000 -20000");
}

TEST(disturbance_phase, a_window_begins_and_ends_it) {
  EXPECT_EQ(changes({.what = disturbance::kind::capacity,
                     .cores = {0},
                     .left = 0.5,
                     .from_s = 0.002,
                     .to_s = 0.007},
                    1),
            "+2 -7");
  EXPECT_EQ(
      changes({.cores = {0}, .slice_s = 0.004, .offset_s = 0.001, .from_s = 0.002, .to_s = 0.010},
              1),
      "+3 -7")
      << "the slice that would begin at 11 does not";
  EXPECT_EQ(
      changes({.cores = {0}, .slice_s = 0.004, .offset_s = 0.001, .from_s = 0.002, .to_s = 0.005},
              1),
      "+3 -5")
      << "the end cuts a slice short";
  EXPECT_EQ(changes({.what = disturbance::kind::capacity, .cores = {0}, .left = 0.5}, 1), "+0");
}

// ---- absence and quotas -------------------------------------------------------------------------

disturbance away(std::vector<core_id> cores, double from_s = 0.0, double to_s = -1.0) {
  return {.what = disturbance::kind::offline,
          .cores = std::move(cores),
          .from_s = from_s,
          .to_s = to_s};
}
disturbance quota(double share) {
  return {.what = disturbance::kind::quota, .cores = {0}, .left = share};
}

TEST(offline, a_core_that_is_away_does_nothing_and_works_again_when_it_is_back) {
  const platform p = plain(2);
  engine_options o = with("rws", p);
  o.disturbances = {away({1}, 0.0101, 0.0305)};
  int while_away = 0;
  o.finished = [&](const sim_assembly& a, core_id c) {
    const double begun_s = a.came_s.front();
    while_away += c == 1 && begun_s > 0.0101 && begun_s < 0.0305;
  };
  engine e(p, o);
  graph g;
  for (int i = 0; i < 100; ++i) g.add(nothing);
  const execution_stats s = e.run(g, works(g), 1);
  EXPECT_EQ(s.tasks, 100u);
  EXPECT_EQ(while_away, 0);
  EXPECT_NEAR(s.seconds, 0.060, 0.0015) << "twenty milliseconds of one core are missing";
  EXPECT_GT(s.core_work_s[1], 0.035) << "it came back";
}

TEST(offline, a_body_is_brought_to_its_end_and_a_chain_goes_on_elsewhere) {
  const platform p = plain(2);
  engine_options o = with("rws", p);
  o.disturbances = {away({0}, 0.0035)};
  engine e(p, o);
  graph g;
  add_chain(g, 10);
  const execution_stats s = e.run(g, works(g), 0);
  EXPECT_NEAR(s.seconds, 10e-3, 1e-9);
  EXPECT_NEAR(s.core_work_s[0], 4e-3, 1e-9);
  EXPECT_NEAR(s.core_work_s[1], 6e-3, 1e-9);
}

TEST(offline, every_policy_finishes_with_any_one_core_left) {
  const platform p = plain(4, 2);
  const std::uint32_t two[] = {2};
  for (const policy_info& each : policy_catalogue())
    for (core_id left = 0; left < 4; ++left) {
      engine_options o = with(std::string(each.name), p);
      std::vector<core_id> others;
      for (core_id c = 0; c < 4; ++c)
        if (c != left) others.push_back(c);
      o.disturbances = {away(others, 0.0052)};
      engine e(p, o);
      graph g;
      task before;
      for (int layer = 0; layer < 20; ++layer) {
        const task head = g.add({.priority = priority::high}, nothing);
        if (before) g.edge(before, head);
        for (int i = 0; i < 3; ++i)
          g.edge(head, g.add({.widths = two, .all_members = i == 1}, nothing));
        before = head;
      }
      EXPECT_EQ(e.run(g, works(g), 0).tasks, 80u) << each.name << ", core " << left << " is left";
    }
}

TEST(offline, a_task_that_needs_a_core_that_left_finds_another_place) {
  const platform p = plain(4, 2);
  const std::uint32_t two[] = {2};
  engine_options o = with("dam-c", p);
  o.disturbances = {away({1}, 0.0003)};
  std::vector<place> used;
  o.finished = [&](const sim_assembly& a, core_id) { used.push_back(a.at); };
  engine e(p, o);
  graph g;
  task last;
  for (int i = 0; i < 6; ++i) {
    const task t = g.add({.priority = priority::high, .widths = two, .all_members = true}, nothing);
    if (last) g.edge(last, t);
    last = t;
  }
  EXPECT_EQ(e.run(g, works(g), 0).tasks, 6u);
  ASSERT_EQ(used.size(), 6u);
  for (std::size_t i = 1; i < used.size(); ++i) EXPECT_EQ(used[i].leader, 2u) << "task " << i;
}

TEST(offline, a_machine_without_cores_waits_until_one_is_back) {
  const platform p = plain(2);
  for (const policy_info& each : policy_catalogue()) {
    engine_options o = with(std::string(each.name), p);
    o.disturbances = {away({0}, 0.0005, 0.0205), away({1}, 0.0005, 0.0305)};
    engine e(p, o);
    graph g;
    add_chain(g, 10);
    EXPECT_NEAR(e.run(g, works(g), 0).seconds, 0.0205 + 9e-3, 1e-7) << each.name;
  }
}

TEST(offline, policies_are_told_who_is_there) {
  const platform p = plain(2);
  engine_options o = with("dam-c", p);
  o.disturbances = {away({0}, 0.0, 0.01)};
  engine e(p, o);
  EXPECT_FALSE(e.online(0));
  EXPECT_FALSE(e.idle(0)) << "nobody who looks for a free core may choose it";
  EXPECT_EQ(e.cells.load(0), 1u) << "the cell in which searches keep how many are offline";
}

TEST(quota, all_cores_together_get_their_share_of_each_period) {
  const platform p = plain(4);
  engine_options o = with("rws", p);
  o.disturbances = {quota(0.5)};
  engine e(p, o);
  graph g;
  for (int i = 0; i < 400; ++i) g.add(nothing);
  EXPECT_NEAR(e.run(g, works(g)).seconds, 9 * 0.020 + 0.010, 1e-4)
      << "four cores use half of 80 ms in 10 ms, then wait for 10";
}

TEST(quota, one_worker_may_use_what_the_others_leave) {
  const platform p = plain(4);
  engine_options o = with("rws", p);
  o.disturbances = {quota(0.25)};
  engine e(p, o);
  graph g;
  add_chain(g, 100);
  EXPECT_NEAR(e.run(g, works(g), 0).seconds, 0.1, 1e-4) << "a quarter of four cores is one core";
}

TEST(quota, ends_with_its_window) {
  const platform p = plain(1);
  engine_options o = with("rws", p);
  o.disturbances = {quota(0.25)};
  o.disturbances[0].from_s = 0.010;
  o.disturbances[0].to_s = 0.050;
  engine e(p, o);
  graph g;
  add_chain(g, 60);
  EXPECT_NEAR(e.run(g, works(g), 0).seconds, 0.060 + 0.030, 1e-9)
      << "two periods of 20 ms with 5 ms each";
}

}  // namespace
}  // namespace kilter::sim
