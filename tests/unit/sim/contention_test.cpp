// What workers cost one another: each figure of a platform file is charged where it arises, and
// nothing is without it.
#include "sim/contention.hpp"

#include <gtest/gtest.h>

#include "unit/sim/world.hpp"

namespace kilter::sim {
namespace {

using namespace test;

double seconds_of(const platform& p, const engine_options& o, graph& g, core_id from = no_core) {
  engine e(p, o);
  return e.run(g, works(g), from).seconds;
}

/// A task, then `width` that all wait for it, then one that waits for them.
void add_fork_join(graph& g, int width, const task_options& first = {}) {
  const task fork = g.add(first, nothing), join = g.add(first, nothing);
  for (int i = 0; i < width; ++i) {
    const task t = g.add(nothing);
    g.edge(fork, t);
    g.edge(t, join);
  }
}

TEST(contention, a_figure_lies_between_what_is_known_on_both_sides) {
  const by_count f{{2, 4, 16}, {10, 20, 80}};
  EXPECT_EQ(f.at(1), 10);
  EXPECT_EQ(f.at(2), 10);
  EXPECT_EQ(f.at(3), 15);
  EXPECT_EQ(f.at(10), 50);
  EXPECT_EQ(f.at(1000), 80);
  EXPECT_EQ(f.up_to(3, 0.0), (std::vector<double>{10, 10, 10, 15}));
  EXPECT_EQ(by_count{}.up_to(2, 7.0), (std::vector<double>{7, 7, 7}));
}

TEST(contention, decisions_are_those_of_the_policy_about_tasks_of_that_length) {
  contention c;
  c.decisions = {{"auto", 1e-5, 1, 0, 0}, {"auto", 1e-3, 2, 0, 0}, {"da", 1e-5, 3, 0, 0}};
  EXPECT_EQ(c.decisions_of("auto", 2e-5)->ready_s, 1);
  EXPECT_EQ(c.decisions_of("auto", 2e-4)->ready_s, 2);
  EXPECT_EQ(c.decisions_of("da", 1.0)->ready_s, 3);
  EXPECT_EQ(c.decisions_of("rws", 1.0), nullptr);
}

TEST(contention, a_decision_takes_its_time) {
  platform p = plain(1);
  p.costs.search_all_s = 1.0;  // whose place it takes
  p.contention.decisions = {{"da", body_s, 1e-4, 0.0, 0.0}};
  graph g;
  add_chain(g, 10, {.priority = priority::high});
  EXPECT_NEAR(seconds_of(p, with("da", p), g), 10 * body_s + 9e-4, 1e-10)
      << "the root was decided about before";

  p.contention.decisions = {{"dam-c", body_s, 0.0, 1e-4, 0.0}};
  graph low;
  add_chain(low, 10);
  EXPECT_NEAR(seconds_of(p, with("dam-c", p), low), 10 * (body_s + 1e-4), 1e-10)
      << "a place for each that is taken";

  p.contention.decisions = {{"fifo", body_s, 0.0, 0.0, 1e-4}};
  graph asked;
  add_chain(asked, 10);
  EXPECT_GE(seconds_of(p, with("fifo", p), asked), 10 * (body_s + 1e-4) - 1e-10);
}

TEST(contention, a_recording_costs_nothing) {
  platform p = plain(2);
  p.contention.decisions = {{"rws", body_s, 1e-4, 1e-4, 1e-4}};
  graph g;
  add_chain(g, 10);
  engine_options o = with("rws", p);
  const double plain_s = seconds_of(p, o, g);
  o.record_decisions = true;
  EXPECT_EQ(seconds_of(p, o, g), plain_s) << "rws decides nothing itself";
}

TEST(contention, who_shares_a_queue_waits_for_the_others) {
  const auto run_s = [](std::uint32_t cores, double queue_s) {
    platform p = plain(cores);
    if (queue_s > 0.0) p.contention.queue_s = {{1, 2}, {queue_s, 2 * queue_s}};
    graph g;
    for (int i = 0; i < 8; ++i) g.add(nothing);
    return seconds_of(p, with("fifo", p), g);
  };
  EXPECT_NEAR(run_s(1, 1e-5), run_s(1, 0.0) + 16e-5, 1e-10) << "eight go in and come out";
  EXPECT_GE(run_s(8, 1e-5), body_s + 8 * 1e-5 + 7 * 2e-5)
      << "they come out one after the other, and the queue is another core's each time";
}

TEST(contention, wide_tasks_begin_when_their_members_have_gathered) {
  platform p = plain(2);
  p.costs.assembly_s = 1.0;  // whose place it takes
  p.contention.gather = {{0, {{2}, {1e-4}}, {{2}, {3e-4}}}};
  graph g;
  const std::uint32_t wide[] = {2};
  add_chain(g, 2, {.widths = wide, .all_members = true});
  const double all_s = seconds_of(p, with("rws", p), g, 0);
  EXPECT_NEAR(all_s, 2 * (0.5 * body_s + 3e-4), 1e-10) << "the last member is the other core's";
}

TEST(contention, who_has_looked_long_enough_sleeps_and_is_woken) {
  platform p = plain(2);
  graph g;
  add_fork_join(g, 2);
  EXPECT_NEAR(seconds_of(p, with("rws", p), g, 0), 3 * body_s, 1e-7);
  p.contention.sleep = sleep_figure{.after_s = 1e-4, .call_s = 1e-5, .up_s = 2e-4};
  EXPECT_NEAR(seconds_of(p, with("rws", p), g, 0), 3 * body_s + 2e-4, 1e-5)
      << "the other core comes late";
  p.contention.sleep->after_s = 2e-3;
  EXPECT_NEAR(seconds_of(p, with("rws", p), g, 0), 3 * body_s, 1e-7) << "it still looks";
}

TEST(contention, all_are_woken_that_there_is_work_for) {
  for (const char* policy : {"rws", "da", "dam-c", "fifo", "cats-2q", "auto"}) {
    platform p = plain(8);
    p.contention.sleep = sleep_figure{.after_s = 1e-5, .call_s = 1e-6, .up_s = 1e-5};
    graph g;
    add_fork_join(g, 8, {.priority = priority::high});
    engine e(p, with(policy, p));
    const execution_stats s = e.run(g, works(g), 0);
    EXPECT_EQ(s.tasks, 10u);
    EXPECT_LT(s.seconds, 3.5 * body_s) << policy << ": nobody slept on while tasks waited";
  }
}

TEST(contention, who_finds_what_it_searched_for_wakes_another_for_the_rest) {
  platform p = plain(8);
  p.contention.sleep = sleep_figure{.after_s = 2e-4, .call_s = 1e-6, .up_s = 1e-5};
  graph g;
  const task fork = g.add(nothing), ends_just_before = g.add({.work = 0.9}, nothing);
  for (int i = 0; i < 8; ++i) g.edge(fork, g.add(nothing));
  (void)ends_just_before;  // its worker searches, so nobody else is woken when the eight are ready
  EXPECT_LT(seconds_of(p, with("rws", p), g, 0), 2.2 * body_s);
}

TEST(contention, who_stayed_up_for_a_victim_sleeps_when_it_is_gone) {
  platform p = plain(2);
  p.contention.sleep = sleep_figure{.after_s = 1e-5, .call_s = 1e-4, .up_s = 1e-6};
  p.contention.look_s = {{1}, {1e3}};  // it never finds the task that it was woken for
  graph g;
  add_fork_join(g, 2);
  const double once_s = seconds_of(p, with("rws", p), g, 0);
  EXPECT_NEAR(once_s, 4 * body_s + 1e-4, 1e-9);
  graph twice;
  const task forks[] = {twice.add(nothing), twice.add(nothing)};
  for (int i = 0; i < 2; ++i) {
    const task t = twice.add(nothing);
    twice.edge(forks[0], t);
    twice.edge(t, forks[1]);
    twice.edge(forks[1], twice.add(nothing));
  }
  EXPECT_NEAR(seconds_of(p, with("rws", p), twice, 0), 6 * body_s + 2e-4, 1e-9)
      << "it is woken for each";
}

TEST(contention, nobody_falls_asleep_beside_work_while_it_does_not_have_its_core) {
  platform p = plain(2);
  p.contention.sleep = sleep_figure{.after_s = 1e-5, .call_s = 0.0, .up_s = 1e-6};
  p.contention.look_s = {{1}, {1e-4}};
  engine_options o = with("rws", p);
  o.disturbances = {
      {.what = disturbance::kind::sliced, .cores = {1}, .slice_s = 2e-3, .offset_s = 0.0}};
  graph g;
  const task fork = g.add({.work = 0.001}, nothing);
  for (int i = 0; i < 20; ++i) g.edge(fork, g.add(nothing));
  EXPECT_LT(seconds_of(p, o, g, 0), 17 * body_s) << "core 1 does a third of it";
}

TEST(contention, a_search_that_is_too_short_for_its_victim_goes_on) {
  platform p = plain(64);
  p.contention.sleep = sleep_figure{.after_s = 1e-5, .call_s = 0.0, .up_s = 1e-6};
  p.contention.look_s = {{1}, {1e-6}};  // sixty looks for one that hits, ten before it sleeps
  graph g;
  const task fork = g.add(nothing);
  for (int i = 0; i < 64; ++i) g.edge(fork, g.add(nothing));
  EXPECT_LT(seconds_of(p, with("rws", p), g, 0), 4 * body_s);
}

TEST(contention, a_chain_wakes_nobody_for_a_queue_that_its_worker_looks_into_next) {
  platform p = plain(2);
  p.contention.sleep = sleep_figure{.after_s = 1e-5, .call_s = 1e-4, .up_s = 1e-4};
  graph g;
  add_chain(g, 20);
  EXPECT_LT(seconds_of(p, with("fifo", p), g, 0), 20 * body_s + 3e-4);
}

// bytes per second of a core; 0: no limit
class busy_cluster : public ::testing::TestWithParam<double> {
 protected:
  static platform cores(std::uint32_t clusters) {
    platform p = plain(2, clusters);
    p.core_bytes_per_s = {GetParam()};
    p.kernels[0].bytes = 1.0;
    p.contention.busy = {{0, {{1, 2}, {1.0, 1.5}}}};
    return p;
  }
};

TEST_P(busy_cluster, is_busy_with_a_worker_until_it_sleeps) {
  platform p = cores(1);
  p.contention.sleep = sleep_figure{.after_s = 0.2e-3, .call_s = 0.0, .up_s = 0.0};
  graph g;
  g.add(nothing);
  g.add({.work = 0.5}, nothing);
  EXPECT_NEAR(seconds_of(p, with("rws", p), g), 0.75 * body_s + 0.2e-3 + (0.5 - 0.2 / 1.5) * body_s,
              1e-8);
}

TEST_P(busy_cluster, makes_bodies_slower) {
  const platform p = cores(1);
  graph g;
  g.add(nothing);
  EXPECT_NEAR(seconds_of(p, with("rws", p), g), body_s, 1e-10);
  g.add(nothing);
  EXPECT_NEAR(seconds_of(p, with("rws", p), g), 1.5 * body_s, 1e-8);
  g.add({.work = 0.5}, nothing);
  EXPECT_NEAR(seconds_of(p, with("rws", p), g), 2.0 * body_s, 1e-8)
      << "the last half has its cluster for itself";

  graph wide;
  const std::uint32_t both[] = {2};
  add_chain(wide, 1, {.widths = both, .all_members = true});
  EXPECT_NEAR(seconds_of(p, with("rws", p), wide), 0.5 * body_s, 1e-10)
      << "its own figure has both cores busy";

  engine_options beside = with("rws", p);
  beside.disturbances = {{.what = disturbance::kind::sliced, .cores = {1}}};
  graph alone;
  alone.add(nothing);
  EXPECT_NEAR(seconds_of(p, beside, alone, 0), 1.5 * body_s, 1e-10)
      << "a co-runner is busy as well";

  graph two;
  for (int i = 0; i < 2; ++i) two.add(nothing);
  const platform apart = cores(2);
  EXPECT_NEAR(seconds_of(apart, with("rws", apart), two), body_s, 1e-8)
      << "each cluster has its own";
}
INSTANTIATE_TEST_SUITE_P(, busy_cluster, ::testing::Values(0.0, 1e12));

TEST(contention, stealing_costs_what_it_does_with_so_many_lookers) {
  const auto run_s = [](double look_s, double steal_s) {
    platform p = plain(2);
    if (look_s > 0.0) p.contention.look_s = {{1}, {look_s}};
    if (steal_s > 0.0) p.contention.steal_s = {{1}, {steal_s}};
    graph g;
    add_fork_join(g, 2);
    return seconds_of(p, with("rws", p), g, 0);
  };
  EXPECT_NEAR(run_s(0.0, 1e-4) - run_s(0.0, 0.0), 1e-4, 1e-9);
  EXPECT_GT(run_s(1e-4, 0.0) - run_s(0.0, 0.0), 1e-8);
}

TEST(contention, fewer_cores_keep_what_was_measured) {
  platform p = plain(4, 2);
  p.contention.busy = {{0, {{1, 2}, {1.0, 1.5}}}};
  p.contention.gather = {{0, {{2}, {1e-4}}, {{2}, {3e-4}}}};
  const core_id keep[] = {0, 1};
  const platform fewer = p.restricted_to(keep);
  ASSERT_NE(fewer.contention.busy_on(0), nullptr);
  EXPECT_EQ(fewer.contention.busy_on(0)->slower.at(2), 1.5);
  ASSERT_NE(fewer.contention.gather_on(0), nullptr);
  EXPECT_EQ(fewer.contention.gather_on(0)->others_s.at(2), 3e-4);
  EXPECT_EQ(fewer.contention.gather_on(1), nullptr);
}

}  // namespace
}  // namespace kilter::sim
