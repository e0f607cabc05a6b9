// The schedulers of big.LITTLE (papers.md A2.1): GTS with the kernel's parameters, cluster
// switching, in-kernel switch.

#include <cmath>
#include <set>

#include "balance/gts.hpp"
#include "kilter/error.hpp"
#include "unit/balance/world.hpp"

using namespace kilter;
using namespace kilter::balance;
using namespace kilter::balance::test;

namespace {

/// `busy` of each quantum a thread runs, the rest it sleeps.
observation sleepy(world& w, double length_s, double busy) {
  observation o = w.see(length_s);
  for (thread_sample& s : o.threads) {
    s.ran_s = busy * length_s;
    s.waited_s = 0.0;
  }
  return o;
}

world threads_on(std::vector<core_id> cores, std::size_t of) {
  world w{std::vector<double>(of, 1.0), {}};
  for (const core_id c : cores) w.actors.push_back({.core = c});
  return w;
}

}  // namespace

TEST(gts, a_busy_thread_passes_the_upper_threshold_after_53_ms) {
  double load = 0.0, at_s = 0.0;
  for (; load <= 700.0; at_s += 0.001) load = tracked_load(load, 1.0, 0.001);
  EXPECT_NEAR(at_s, 0.0535, 0.0006);
  EXPECT_NEAR(tracked_load(1023.0, 0.0, 0.032), 511.5, 1e-9) << "half-life 32 ms";
}

TEST(gts, new_threads_begin_on_fast_cores_and_idle_ones_go_to_slow_cores) {
  const machine m = two_kinds(2, 2);
  const auto s = make_scheduler("gts", m);
  EXPECT_EQ(s->place({.thread = 0}, std::vector<std::uint32_t>{1, 0, 0, 0}), 1u);
  world w = threads_on({0}, 4);
  int ticks = 0;
  while (w.actors[0].core < 2 && ticks < 100) {
    w.carry_out(s->tick(sleepy(w, 0.004, 0.1)));
    ++ticks;
  }
  EXPECT_EQ(w.actors[0].core, 2u);
  // From 1023 with 10 % busy: 102 + 921 * 2^(-t/32) < 512 after 37.5 ms; the first tick only learns
  // of the thread.
  EXPECT_EQ(ticks, 1 + 10);
  for (int i = 0; i < 50; ++i) w.carry_out(s->tick(sleepy(w, 0.004, 0.1)));
  EXPECT_EQ(w.actors[0].core, 2u);
  ticks = 0;
  while (w.actors[0].core >= 2 && ticks < 100) {
    w.carry_out(s->tick(sleepy(w, 0.004, 1.0)));
    ++ticks;
  }
  EXPECT_LT(w.actors[0].core, 2u) << "busy again, and a fast core is idle";
}

TEST(gts, a_crowded_fast_core_gives_to_an_idle_slow_one_and_takes_back_when_idle) {
  const machine m = two_kinds(2, 2);
  const auto s = make_scheduler("gts", m);
  world w = threads_on({0, 1, 0, 1}, 4);
  for (int i = 0; i < 3; ++i) w.carry_out(s->tick(w.see(0.004)));
  std::vector<core_id> where;
  for (const actor& a : w.actors) where.push_back(a.core);
  std::sort(where.begin(), where.end());
  EXPECT_EQ(where, (std::vector<core_id>{0, 1, 2, 3}));
  for (actor& a : w.actors)
    if (a.core == 0) a.alive = false;
  w.carry_out(s->tick(w.see(0.004)));
  EXPECT_EQ(std::count_if(w.actors.begin(), w.actors.end(),
                          [](const actor& a) { return a.alive && a.core == 0; }),
            1);
}

TEST(gts, nobody_crosses_twice_in_one_tick_and_thresholds_are_options) {
  const machine m = two_kinds(1, 1);
  const auto patient = make_scheduler("gts", m, {.gts_up = 700.0, .gts_down = 0.0});
  world w = threads_on({0}, 2);
  for (int i = 0; i < 100; ++i) w.carry_out(patient->tick(sleepy(w, 0.004, 0.1)));
  EXPECT_EQ(w.actors[0].core, 0u) << "no load is below 0";
  const auto s = make_scheduler("gts", m);
  for (int i = 0; i < 50; ++i) EXPECT_LE(s->tick(sleepy(w, 0.004, 0.5)).moves.size(), 1u);
}

TEST(cs, all_threads_change_cluster_by_utilisation) {
  const machine m = two_kinds(2, 2);
  const auto s = make_scheduler("cs", m);
  EXPECT_EQ(s->place({}, std::vector<std::uint32_t>(4)), 2u) << "begins on the slow cores";
  world w = threads_on({2, 3}, 4);
  w.carry_out(s->tick(sleepy(w, 0.5, 0.8)));
  EXPECT_GE(w.actors[0].core, 2u) << "0.80 is not above 0.85";
  w.carry_out(s->tick(sleepy(w, 0.5, 0.9)));
  EXPECT_EQ(w.actors[0].core + w.actors[1].core, 1u) << "both on the fast cores, one on each";
  w.carry_out(s->tick(sleepy(w, 0.5, 0.5)));
  EXPECT_LT(w.actors[0].core, 2u) << "between the thresholds nothing changes";
  w.carry_out(s->tick(sleepy(w, 0.5, 0.2)));
  EXPECT_EQ(w.actors[0].core + w.actors[1].core, 5u);
}

TEST(iks, each_pair_switches_by_itself) {
  const machine m = two_kinds(2, 2);
  const auto s = make_scheduler("iks", m);
  world w = threads_on({2, 3}, 4);
  observation o = sleepy(w, 0.5, 0.9);
  o.threads[1].ran_s = 0.05;
  w.carry_out(s->tick(o));
  EXPECT_EQ(w.actors[0].core, 0u);
  EXPECT_EQ(w.actors[1].core, 3u);
}

TEST(eas, saves_energy_while_nothing_is_full_and_leaves_it_alone_then) {
  const machine m = two_kinds(2, 2);
  const auto s = make_scheduler("eas", m);
  EXPECT_EQ(s->place({.thread = 0}, std::vector<std::uint32_t>{1, 0, 0, 0}), 1u)
      << "the fastest of those with the fewest threads";
  EXPECT_EQ(s->place({.thread = 0}, std::vector<std::uint32_t>{1, 1, 0, 0}), 2u);
  // A thread that is busy for a tenth of the time fits on a slow core, where it takes less energy.
  world w = threads_on({0}, 4);
  for (int i = 0; i < 100; ++i) w.carry_out(s->tick(sleepy(w, 0.004, 0.1)));
  EXPECT_GE(w.actors[0].core, 2u);
  // Busy all the time it is more than a slow core has: a fast one that is idle takes it.
  for (int i = 0; i < 100; ++i) w.carry_out(s->tick(sleepy(w, 0.004, 1.0)));
  EXPECT_LT(w.actors[0].core, 2u);
}

TEST(eas, who_waits_goes_to_any_idle_core) {
  const machine m = two_kinds(2, 2);
  const auto s = make_scheduler("eas", m);
  world w = threads_on({0, 0, 1}, 4);
  for (int i = 0; i < 3; ++i) w.carry_out(s->tick(w.see(0.004)));
  std::set<core_id> where;
  for (const auto& a : w.actors) where.insert(a.core);
  EXPECT_EQ(where.size(), 3u);
  EXPECT_TRUE(where.contains(0) && where.contains(1));
}

TEST(eas, refuses_watts_that_cannot_be) {
  for (const double power : {0.0, -1.0, static_cast<double>(NAN)})
    EXPECT_THROW((void)make_scheduler("eas", two_kinds(2, 2), {.eas_power = power}), input_error);
}

TEST(in_cluster, a_thread_that_waits_goes_to_an_idle_core_of_its_cluster_alone) {
  const machine m = two_kinds(2, 2);  // a cluster of each
  const auto s = make_scheduler("in-cluster", m);
  EXPECT_EQ(s->place({.thread = 0}, std::vector<std::uint32_t>{1, 1, 0, 1}), 2u);
  EXPECT_EQ(s->place({.thread = 0}, std::vector<std::uint32_t>{0, 0, 0, 0}), 0u);
  EXPECT_EQ(make_scheduler("in-cluster", m, {.slow_first = true})
                ->place({.thread = 0}, std::vector<std::uint32_t>{0, 0, 0, 1}),
            2u);
  world w = threads_on({0, 0, 0, 2}, 4);
  for (int i = 0; i < 5; ++i) w.carry_out(s->tick(w.see(0.004)));
  std::multiset<core_id> where;
  for (const auto& a : w.actors) where.insert(a.core);
  EXPECT_EQ(where.count(0) + where.count(1), 3u) << "the third waits, though core 3 is idle";
  EXPECT_EQ(where.count(1), 1u);
  EXPECT_EQ(where.count(2), 1u);
}
