// Who sleeps gives its core to a worker that is held up, in virtual time.
#include <gtest/gtest.h>

#include <algorithm>

#include "unit/sim/world.hpp"

namespace kilter::sim {
namespace {

using namespace test;

constexpr double slice_s = 4e-3, lend_s = 1e-4;

/// `cores` workers that sleep at once and lend.
platform lending(std::uint32_t cores) {
  platform p = plain(cores);
  p.contention.sleep =
      sleep_figure{.after_s = 1e-5, .long_after_s = 1e-5, .call_s = 0.0, .up_s = 1e-6};
  p.contention.lend = lend_figure{.looks_s = 1e-3, .seconds = lend_s, .keeps_s = slice_s};
  return p;
}

/// A co-runner that comes to the core after `offset_s` and leaves it to the worker every other
/// slice.
disturbance beside(core_id c, double offset_s) {
  return {
      .what = disturbance::kind::sliced, .cores = {c}, .slice_s = slice_s, .offset_s = offset_s};
}

struct ended {
  double seconds;
  std::vector<core_id> by;  // who was the last one out of each task
};

ended run(const platform& p, engine_options o, std::vector<disturbance> all, graph& g,
          core_id from = 0) {
  ended seen{};
  o.table = table_options::robust();
  o.disturbances = std::move(all);
  o.finished = [&](const sim_assembly&, core_id last) { seen.by.push_back(last); };
  engine e(p, o);
  seen.seconds = e.run(g, works(g), from).seconds;
  return seen;
}

ended run(const platform& p, std::vector<disturbance> all, graph& g, const char* policy = "rws") {
  return run(p, with(policy, p), std::move(all), g);
}

/// A chain on core 0, and on core 1 a short task that has its worker fall asleep while the run goes
/// on.
void add_chain_beside_sleeper(graph& g, int tasks) {
  const task first = g.add({.work = 0.01}, nothing);
  task last = first;
  for (int i = 0; i < tasks; ++i) {
    const task next = g.add(nothing);
    g.edge(last, next);
    last = next;
  }
  g.edge(first, g.add({.work = 0.5}, nothing));
}

TEST(lending, a_task_whose_core_is_taken_goes_on_where_somebody_sleeps) {
  graph g;
  add_chain_beside_sleeper(g, 1);
  const double lost_s = 1.8e-4;  // when it has run 17 hundredths
  platform p = lending(2);
  const double lent = run(p, {beside(0, lost_s)}, g).seconds;
  p.contention.lend.reset();
  const double waits = run(p, {beside(0, lost_s)}, g).seconds;
  EXPECT_NEAR(waits, 1.01 * body_s + slice_s, 1e-5);
  EXPECT_LT(lent, 2.2 * body_s) << "the other sleeps after half a body, and looks";
  EXPECT_GT(lent, 0.5 * body_s + lend_s + 0.8 * body_s) << "it takes time to move";
}

TEST(lending, what_it_had_in_hand_others_take_while_it_waits_at_home) {
  graph g;
  add_chain_beside_sleeper(g, 3);
  const ended seen = run(lending(2), {beside(0, 1.8e-4)}, g);
  EXPECT_EQ(seen.by.back(), 1u) << "the host goes on with the chain";
  EXPECT_LT(seen.seconds, 4.3 * body_s);
}

/// Half a body on core 1, then one of `work` bodies that goes to core 0 alone, where a co-runner
/// came at .1 ms.
double comes_to_core_0(double keeps_s, double work) {
  platform p = lending(2);
  p.contention.lend->keeps_s = keeps_s;
  p.contention.lend->looks_s = 1.0;
  graph g;
  g.edge(g.add({.work = 0.5}, nothing), g.add({.priority = priority::high, .work = work}, nothing));
  engine_options o = with("fa", p);
  o.policy = make_policy("fa", *p.cores, {.fast = {0}});
  return run(p, o, {beside(0, 1e-4)}, g, 1).seconds;
}

TEST(lending, a_co_runner_gives_the_core_up_to_who_comes_before_its_turn_is_over) {
  EXPECT_NEAR(comes_to_core_0(slice_s, 1), 1e-4 + slice_s + body_s, 1e-9) << "a whole turn";
  EXPECT_NEAR(comes_to_core_0(2e-3, 1), 1e-4 + 2e-3 + body_s, 1e-9);
  EXPECT_NEAR(comes_to_core_0(1e-5, 1), 0.5 * body_s + 1e-6 + body_s, 1e-9)
      << "as soon as it is up";
}

TEST(lending, a_turn_is_cut_short_once) {
  disturbance_phase p(beside(0, 0.0));
  const sim_time end = p.next_change();
  EXPECT_TRUE(p.cut_short(to_time(1e-3)));
  EXPECT_FALSE(p.cut_short(to_time(5e-4))) << "who comes again has no more to say";
  EXPECT_EQ(p.next_change(), to_time(1e-3));
  p.advance();
  EXPECT_EQ(p.next_change(), end);
}

TEST(lending, a_turn_that_was_cut_short_moves_no_later_one) {
  EXPECT_NEAR(comes_to_core_0(1e-5, 20), 0.5 * body_s + 1e-6 + 20 * body_s + 5 * slice_s, 1e-9)
      << "from 4.1 ms on every other is its own";
}

TEST(lending, a_host_that_is_woken_sends_its_guest_home) {
  graph g;
  const task first = g.add({.work = 0.01}, nothing);
  const task held = g.add({.work = 10.0}, nothing);  // on core 0
  g.edge(first, held);
  const task other = g.add({.work = 0.1}, nothing);  // on core 1, which then sleeps
  g.edge(first, other);
  const task later = g.add({.work = 3.0}, nothing);  // on core 2
  g.edge(first, later);
  for (int i = 0; i < 8; ++i) g.edge(later, g.add(nothing));
  const ended seen = run(lending(3), {beside(0, 1.8e-4)}, g);
  EXPECT_GT(std::ranges::count(seen.by, 1u), 2) << "it takes its share of the eight";
  EXPECT_GT(seen.seconds, 11.5 * body_s) << "meanwhile the guest has half a core at home";
  EXPECT_LT(seen.seconds, 15 * body_s) << "then it is taken in again";
}

TEST(lending, a_host_has_one_guest) {
  graph g;
  const task first = g.add({.work = 0.01}, nothing);
  for (const double work : {10.0, 10.0, 0.2}) g.edge(first, g.add({.work = work}, nothing));
  const ended seen = run(lending(3), {beside(0, 1e-4), beside(1, 1e-4), beside(2, 1e-4)}, g);
  EXPECT_GT(seen.seconds, 13 * body_s) << "there is half of each core for two of them";
  platform p = lending(3);
  p.contention.lend->looks_s = 1e-4;
  graph two;
  const task fork = two.add({.work = 0.01}, nothing);
  for (const double work : {10.0, 10.0, 0.05}) two.edge(fork, two.add({.work = work}, nothing));
  EXPECT_GT(run(p, {beside(0, 1e-4), beside(1, 1e-4)}, two).seconds, 13 * body_s)
      << "the second waits until the first has ended";
}

TEST(lending, a_guest_is_sent_home_when_a_neighbour_comes_to_its_host) {
  graph g;
  const task first = g.add({.work = 0.01}, nothing);
  g.edge(first, g.add({.work = 20.0}, nothing));
  g.edge(first, g.add({.work = 0.5}, nothing));
  disturbance later = beside(1, 0.0);
  later.from_s = 1e-4 + 2 * slice_s;  // both are away at the same times
  EXPECT_GT(run(lending(2), {beside(0, 1e-4), later}, g).seconds, 28 * body_s);
}

TEST(lending, a_guest_is_sent_home_when_its_host_has_too_little_of_its_core_left) {
  const auto run_s = [](double left) {
    graph g;
    const task first = g.add({.work = 0.01}, nothing);
    g.edge(first, g.add({.work = 20.0}, nothing));
    g.edge(first, g.add({.work = 0.5}, nothing));
    const disturbance later{
        .what = disturbance::kind::capacity, .cores = {1}, .left = left, .from_s = 1e-3};
    return run(lending(2), {beside(0, 1e-4), later}, g).seconds;
  };
  EXPECT_NEAR(run_s(0.8), 1e-3 + 0.62e-3 + (20 - 1) / 0.8 * body_s, 1e-3);
  EXPECT_GT(run_s(0.5), 30 * body_s) << "a half it has at home, too, some of it late";
}

TEST(lending, a_host_that_is_woken_before_it_has_lent_its_core_keeps_it) {
  graph g;
  const task first = g.add({.work = 0.01}, nothing);
  g.edge(first, g.add({.work = 4.0}, nothing));       // on core 0, held up from .1 to 4.1 ms
  g.edge(first, g.add({.work = 0.5}, nothing));       // on core 1, which looks at .52
  const task wakes = g.add({.work = 0.56}, nothing);  // on core 2
  g.edge(first, wakes);
  for (int i = 0; i < 2; ++i) g.edge(wakes, g.add({.work = 6.0}, nothing));
  EXPECT_GT(run(lending(3), {beside(0, 1e-4)}, g).seconds, 8.0 * body_s)
      << "nobody is left to take it in";
}

TEST(lending, who_slept_since_before_the_run_does_not_look_until_a_body_was_long) {
  graph g;
  add_chain(g, 1, {.work = 2.0});
  EXPECT_NEAR(run(lending(2), {beside(0, 1e-3)}, g).seconds, 2 * body_s + slice_s, 1e-9);
}

TEST(lending, a_core_that_was_slowed_lately_is_woken_last) {
  graph g;
  const task join = g.add({.work = 0.01}, nothing);
  for (int i = 0; i < 60; ++i) g.edge(g.add(nothing), join);
  const std::uint32_t narrow[] = {1};
  // on core 0; the others fall asleep
  const task alone = g.add({.priority = priority::high, .widths = narrow, .work = 5.0}, nothing);
  g.edge(join, alone);
  for (int i = 0; i < 2; ++i) g.edge(alone, g.add(nothing));
  disturbance before = beside(1, 0.0);
  before.to_s = 0.03;
  platform p = lending(3);
  p.contention.lend.reset();
  engine_options o = with("fam-c", p);
  o.policy = make_policy("fam-c", *p.cores, {.fast = {0}});
  const ended seen = run(p, o, {before}, g);
  EXPECT_EQ(std::ranges::count(std::vector(seen.by.end() - 2, seen.by.end()), 1u), 0);
}

TEST(lending, what_is_bound_to_a_guest_waits_until_it_is_at_home_and_has_its_core) {
  const auto ends_at = [](double keeps_s) {
    platform p = lending(3);
    p.contention.lend->keeps_s = keeps_s;
    graph g;
    const task first = g.add({.work = 0.01}, nothing);
    g.edge(first, g.add({.priority = priority::high}, nothing));  // on core 0, where it is held up
    const task other = g.add({.work = 0.6}, nothing),
               bound = g.add({.priority = priority::high}, nothing);
    g.edge(first, g.add({.work = 0.1}, nothing));  // its core takes the guest in
    g.edge(first, other);
    g.edge(other, bound);
    engine_options o = with("fa", p);
    o.policy = make_policy("fa", *p.cores, {.fast = {0}});
    return run(p, o, {beside(0, 1.8e-4)}, g).seconds;
  };
  EXPECT_NEAR(ends_at(slice_s), 1.8e-4 + slice_s + body_s, 1e-6);
  EXPECT_NEAR(ends_at(2e-3), 1.8e-4 + 2e-3 + body_s, 1e-6);
}

TEST(lending, a_core_that_is_slower_than_the_other_is_not_lent) {
  const auto run_s = [](bool slowed_before) {
    platform p = lending(2);
    graph g;
    const task join = g.add({.work = 0.01}, nothing);
    for (int i = 0; i < 80; ++i) g.edge(g.add(nothing), join);
    const std::uint32_t narrow[] = {1};
    g.edge(join, g.add({.priority = priority::high, .widths = narrow, .work = 20}, nothing));
    engine_options o = with("fam-c", p);
    o.policy = make_policy("fam-c", *p.cores, {.fast = {0}});
    std::vector<disturbance> all{beside(0, 0.0)};
    all.front().from_s = 0.055;
    if (slowed_before) {
      all.push_back(beside(1, 0.0));
      all.back().to_s = 0.045;
    }
    return run(p, o, all, g).seconds;
  };
  EXPECT_GT(run_s(true), run_s(false) + 10 * body_s);
}

TEST(lending, who_sleeps_looks_again) {
  // The core is lost long after the other fell asleep: at 1.5 ms, 3.5 ms and so on it looks.
  graph late;
  const task first = late.add({.work = 0.01}, nothing);
  late.edge(first, late.add({.work = 5.0}, nothing));
  late.edge(first, late.add({.work = 0.5}, nothing));
  const double seconds = run(lending(2), {beside(0, 2e-3)}, late).seconds;
  EXPECT_GT(seconds, 6.0 * body_s);
  EXPECT_LT(seconds, 8.0 * body_s) << "not a slice later";
}

TEST(lending, one_that_slept_since_before_the_run_looks_once_a_body_is_long) {
  platform p = lending(2);
  graph g;
  add_chain(g, 6);
  const double lent = run(p, {beside(0, 5e-4)}, g).seconds;
  p.contention.lend.reset();
  const double waits = run(p, {beside(0, 5e-4)}, g).seconds;
  EXPECT_LT(lent, waits) << "the first body that is held up waits; then somebody watches";
}

TEST(lending, a_member_of_a_wide_task_is_taken_in_too) {
  graph g;
  const std::uint32_t both[] = {2};
  add_chain(g, 1, {.widths = both});
  platform p = lending(2);
  const double lent = run(p, {beside(0, 1e-4)}, g).seconds;
  p.contention.lend.reset();
  EXPECT_LT(lent, run(p, {beside(0, 1e-4)}, g).seconds - 1e-3);
}

TEST(lending, the_first_decision_is_for_a_core_that_nobody_has) {
  graph g;
  add_chain(g, 3, {.priority = priority::high});
  platform p = lending(2);
  EXPECT_EQ(run(p, {beside(0, 0.0)}, g, "da").by.back(), 1u);
  EXPECT_EQ(run(p, {beside(1, 0.0)}, g, "da").by.back(), 0u);
}

TEST(lending, who_would_have_been_spared_its_sleep_looks_longer_next_time) {
  const auto run_s = [](double long_after_s) {
    platform p = plain(2);
    p.contention.sleep =
        sleep_figure{.after_s = 1e-4, .long_after_s = long_after_s, .call_s = 0.0, .up_s = 1e-5};
    graph g;
    task last = g.add({.work = 0.2}, nothing);
    for (int i = 0; i < 4; ++i) {  // both cores have half a body, then one of them .2
      const task join = g.add({.work = 0.2}, nothing);
      for (int k = 0; k < 2; ++k) {
        const task half = g.add({.work = 0.5}, nothing);
        g.edge(last, half);
        g.edge(half, join);
      }
      last = join;
    }
    return run(p, {}, g).seconds;
  };
  EXPECT_NEAR(run_s(1e-4), 0.2 * body_s + 4 * (0.7 * body_s + 1e-5), 1e-7)
      << "it is woken each time";
  EXPECT_NEAR(run_s(1e-3), 0.2 * body_s + 4 * 0.7 * body_s + 2e-5, 1e-7) << "each worker once";
}

}  // namespace
}  // namespace kilter::sim
