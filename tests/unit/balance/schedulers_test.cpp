// Schedulers of others on a machine of arithmetic: both readings of DIO (papers.md A5.3, E46,
// E47), those of big.LITTLE (A2.1), and spread, which knows nothing of a thread.

#include <cmath>
#include <set>

#include "balance/gts.hpp"
#include "unit/balance/world.hpp"

using namespace kilter;
using namespace kilter::balance;
using namespace kilter::balance::test;

// ---- DIO ----------------------------------------------------------------------------------------

namespace {

world six() {
  world w{{100, 100, 100, 100, 100, 100}, {}};
  const double demands[] = {50, 10, 40, 20, 30, 60};
  for (core_id c = 0; c < 6; ++c)
    w.actors.push_back({.program = c,
                        .kind = c < 2 ? thread_class::memory : thread_class::compute,
                        .demand_per_s = demands[c],
                        .core = c});
  return w;
}

world four(const std::vector<double>& demands) {
  world w{{100, 100, 100, 100}, {}};
  for (core_id c = 0; c < 4; ++c)
    w.actors.push_back({.kind = thread_class::memory, .demand_per_s = demands[c], .core = c});
  return w;
}

std::vector<std::pair<thread_id, thread_id>> swapped(const answer& a) {
  std::vector<std::pair<thread_id, thread_id>> pairs;
  for (std::size_t i = 0; i + 1 < a.moves.size(); i += 2)
    pairs.emplace_back(a.moves[i].thread, a.moves[i + 1].thread);
  return pairs;
}

using pairs = std::vector<std::pair<thread_id, thread_id>>;

}  // namespace

TEST(dio, exchanges_every_pair_each_quantum_and_predicts_nothing) {
  world w = six();
  const auto s = make_scheduler("dio", machine::uniform(6));
  for (int q = 0; q < 5; ++q) {
    const answer a = s->tick(w.see(0.5));
    EXPECT_EQ(swapped(a), (pairs{{1, 5}, {3, 0}, {4, 2}}));
    EXPECT_EQ(a.swaps, 3u);
    EXPECT_EQ(a.rejected, 0u);
    EXPECT_TRUE(a.expected.empty());
    EXPECT_EQ(a.next_s, 0.5) << "E47: the quantum of Dike";
    w.carry_out(a);
  }
}

TEST(dio, with_classes_only_sorts_by_class_then_thread) {
  world w = six();
  const answer a = make_scheduler("dio", machine::uniform(6))->tick(w.see(0.5, false));
  EXPECT_EQ(swapped(a), (pairs{{2, 1}, {3, 0}, {4, 5}}));
}

TEST(dio, of_an_odd_number_the_middle_one_stays_and_the_immovable_are_no_partners) {
  world w = six();
  w.actors[5].alive = false;
  EXPECT_EQ(swapped(make_scheduler("dio", machine::uniform(6))->tick(w.see(0.5))),
            (pairs{{1, 0}, {3, 2}}));
  w.actors[0].movable = false;
  EXPECT_EQ(swapped(make_scheduler("dio", machine::uniform(6))->tick(w.see(0.5))),
            (pairs{{1, 2}, {3, 4}}));
}

// E46
TEST(dio_original, balances_the_totals_of_the_clusters_and_then_rests) {
  const machine m = machine::uniform(4, 2);
  world w = four({40.0, 30.0, 20.0, 10.0});
  const auto s = make_scheduler("dio-original", m);
  w.carry_out(s->tick(w.see(0.5)));
  double total[2] = {};
  for (const actor& a : w.actors) total[a.core / 2] += a.demand_per_s;
  EXPECT_EQ(total[0], 50.0);
  EXPECT_EQ(total[1], 50.0);
  for (int q = 0; q < 30; ++q) EXPECT_TRUE(s->tick(w.see(0.5)).moves.empty());
}

TEST(dio_original, small_changes_do_not_move_anybody_and_five_changes_of_phase_do) {
  const machine m = machine::uniform(4, 2);
  world w = four({40.0, 10.0, 20.0, 30.0});
  const auto s = make_scheduler("dio-original", m);
  EXPECT_TRUE(s->tick(w.see(0.5)).moves.empty()) << "50 on each cluster already";
  for (int q = 0; q < 20; ++q) {
    w.actors[0].demand_per_s = q % 2 ? 45.0 : 35.0;
    EXPECT_TRUE(s->tick(w.see(0.5)).moves.empty());
  }
  w.actors[0].demand_per_s = 90.0;
  w.actors[1].demand_per_s = 80.0;
  int ticks = 0;
  while (ticks < 30) {
    const answer a = s->tick(w.see(0.5));
    ++ticks;
    if (a.moves.empty()) continue;
    w.carry_out(a);
    break;
  }
  EXPECT_GT(ticks, 1) << "one changed quantum is not enough";
  EXPECT_NE(w.actors[0].core / 2, w.actors[1].core / 2) << "the two that became intense are apart";
}

// ---- big.LITTLE: GTS with the kernel's parameters, cluster switching, in-kernel switch ----------

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

// spread: who waits beside an idle core is sent there, a core that others hold is shared in turns

namespace {

/// `held`: the part of each core that others use; a thread there has the rest.
observation see(world& w, const std::vector<double>& held, double length_s = 0.1) {
  observation o = w.see(length_s, false);
  std::vector<double> used = held;
  for (thread_sample& s : o.threads) {
    if (!s.runnable) continue;
    const double shared = s.ran_s;
    s.ran_s = shared * (1.0 - held[s.core]);
    s.waited_s += shared - s.ran_s;
    used[s.core] += s.ran_s / length_s;
  }
  for (const double u : used) o.idle.push_back(std::max(0.0, 1.0 - u));
  return o;
}

int moves_in(scheduler& s, world& w, const std::vector<double>& held, int quanta) {
  int moves = 0;
  for (int q = 0; q < quanta; ++q) {
    const answer a = s.tick(see(w, held));
    moves += static_cast<int>(a.moves.size());
    w.carry_out(a);
  }
  return moves;
}

}  // namespace

TEST(spread, sends_a_thread_that_waits_to_an_idle_core_and_then_rests) {
  const auto s = make_scheduler("spread", machine::uniform(4));
  world w = threads_on({1, 1}, 4);
  const answer a = s->tick(see(w, {0, 0, 0, 0}));
  ASSERT_EQ(a.moves.size(), 1U);
  EXPECT_EQ(a.moves[0].why, reason::load);
  w.carry_out(a);
  EXPECT_NE(w.actors[0].core, w.actors[1].core);
  EXPECT_EQ(moves_in(*s, w, {0, 0, 0, 0}, 20), 0);
  world held = threads_on({0, 1, 2}, 4);
  EXPECT_EQ(moves_in(*s, held, {0.5, 0, 0, 0}, 20), 1)
      << "three threads have a core each beside the one that others hold";
}

TEST(spread, sends_nobody_where_its_mask_forbids_it) {
  const auto s = make_scheduler("spread", machine::uniform(2));
  world w = threads_on({0, 0}, 2);
  observation o = see(w, {0, 0});
  const std::uint8_t only_first[] = {1, 0};
  for (thread_sample& t : o.threads) t.may_use = only_first;
  EXPECT_TRUE(s->tick(o).moves.empty());
}

TEST(spread, threads_of_a_program_that_fills_the_machine_take_turns_on_a_held_core) {
  const auto s = make_scheduler("spread", machine::uniform(4));
  world w = threads_on({0, 1, 2, 3}, 4);
  std::vector<int> quanta_on_held(4);
  for (int q = 0; q < 80; ++q) {
    w.carry_out(s->tick(see(w, {0, 0, 0.5, 0})));
    for (thread_id t = 0; t < 4; ++t) quanta_on_held[t] += w.actors[t].core == 2 ? 1 : 0;
  }
  for (const int quanta : quanta_on_held) EXPECT_NEAR(quanta, 20, 4) << "they are not slowed alike";
}

TEST(spread, stops_when_the_others_have_gone) {
  const auto s = make_scheduler("spread", machine::uniform(2));
  world w = threads_on({0, 1}, 2);
  EXPECT_GT(moves_in(*s, w, {0.5, 0}, 10), 0);
  EXPECT_EQ(moves_in(*s, w, {0, 0}, 10), 0);
}

TEST(spread, leaves_everything_else_to_the_operating_system) {
  const machine m = machine::uniform(4);
  struct one {
    const char* what;
    std::vector<core_id> cores;
    std::vector<double> held;
  };
  for (const one& c : {one{"the program is alone", {0, 1, 2, 3}, {0, 0, 0, 0}},
                       one{"others hold every core", {0, 1, 2, 3}, {0.5, 0.5, 0.5, 0.5}},
                       one{"more threads than cores", {0, 0, 1, 2, 3}, {0.5, 0, 0, 0}},
                       one{"one thread", {0}, {0, 0, 0, 0}},
                       one{"others use little", {0, 1, 2, 3}, {0.1, 0, 0, 0}}}) {
    const auto s = make_scheduler("spread", m);
    world w = threads_on(c.cores, 4);
    EXPECT_EQ(moves_in(*s, w, c.held, 20), 0) << c.what;
  }
  const auto s = make_scheduler("spread", m);
  world w = threads_on({0, 1, 2, 3}, 4);
  int moves = 0;
  for (int q = 0; q < 20; ++q) {  // others that wander
    std::vector<double> held(4);
    held[static_cast<std::size_t>(q) % 4] = 0.5;
    moves += static_cast<int>(s->tick(see(w, held)).moves.size());
  }
  EXPECT_EQ(moves, 0);
  for (int q = 0; q < 20; ++q) {
    observation o = see(w, {0.5, 0, 0, 0});
    o.threads[1].ran_s *= 0.6;
    o.idle[1] = 0.4;
    EXPECT_TRUE(s->tick(o).moves.empty()) << "demand is unequal";
  }
}
