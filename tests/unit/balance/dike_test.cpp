// Dike as a whole, on a machine of arithmetic.

#include <map>
#include <set>

#include "balance/predictor.hpp"
#include "unit/balance/world.hpp"

using namespace kilter;
using namespace kilter::balance;
using namespace kilter::balance::test;

namespace {

actor memory_on(core_id c, program_id p = 0) {
  return {.program = p, .kind = M, .demand_per_s = 200.0, .core = c};
}
actor compute_on(core_id c, program_id p = 1) {
  return {.program = p, .kind = C, .demand_per_s = 5.0, .core = c};
}

/// Two cores of high bandwidth, `low` of low.
std::vector<double> cores(std::uint32_t low) {
  std::vector<double> all = {100.0, 100.0};
  all.resize(2 + low, 40.0);
  return all;
}

struct totals {
  std::uint32_t swaps = 0, rejected = 0;
  std::map<thread_id, std::uint32_t> on_high;  ///< quanta that began on core 0 or 1
};

totals run(scheduler& s, world& w, int quanta, bool rates = true) {
  totals sum;
  double length_s = s.first_s();
  for (int q = 0; q < quanta; ++q) {
    for (thread_id t = 0; t < w.actors.size(); ++t)
      if (w.actors[t].core < 2) ++sum.on_high[t];
    const answer a = s.tick(w.see(length_s, rates));
    w.carry_out(a);
    EXPECT_EQ(a.moves.size(), 2 * a.swaps);
    sum.swaps += a.swaps;
    sum.rejected += a.rejected;
    length_s = a.next_s;
  }
  return sum;
}

}  // namespace

TEST(dike, moves_memory_threads_to_high_cores_and_then_rests) {
  world w{cores(2), {compute_on(0), memory_on(1), memory_on(2), compute_on(3)}};
  const machine m = machine::uniform(4);
  const auto s = make_scheduler("dike", m, {.high_bandwidth = {0, 1}});
  EXPECT_EQ(run(*s, w, 1).swaps, 1u);
  EXPECT_LT(w.actors[1].core, 2u);
  EXPECT_LT(w.actors[2].core, 2u);
  const totals after = run(*s, w, 50);
  EXPECT_EQ(after.swaps + after.rejected, 0u) << "fair: no pair is formed";
}

// Cores count as high by what was achieved on them, so those where memory threads sit from the
// start look high, and nobody moves.
TEST(dike, by_itself_takes_the_cores_of_memory_threads_for_high_ones) {
  world w{cores(2), {memory_on(0), compute_on(1), memory_on(2), compute_on(3)}};
  const machine m = machine::uniform(4);
  const auto s = make_scheduler("dike", m);
  run(*s, w, 40);
  EXPECT_EQ(w.actors[0].core, 0u);
  EXPECT_EQ(w.actors[2].core, 2u);
}

TEST(dike, a_program_that_is_slow_as_a_whole_looks_fair_by_program) {
  world w{cores(2), {compute_on(0), compute_on(1), memory_on(2), memory_on(3)}};
  const machine m = machine::uniform(4);
  EXPECT_EQ(run(*make_scheduler("dike", m, {.high_bandwidth = {0, 1}}), w, 10).swaps, 0u)
      << "what cv by program cannot see (papers.md E38)";
  EXPECT_EQ(
      run(*make_scheduler("dike", m, {.global_cv = true, .high_bandwidth = {0, 1}}), w, 10).swaps,
      2u);
}

// S4, III-B: where the rule cannot be met, it holds on average.
TEST(dike, more_memory_threads_than_high_cores_take_turns) {
  for (const bool rates : {true, false}) {
    // Core 0 remembers a compute thread, which makes the profit of Eq. 3 negative for good there.
    world w{cores(4),
            {compute_on(0), compute_on(5), memory_on(1), memory_on(2), memory_on(3), memory_on(4)}};
    const machine m = machine::uniform(6);
    const auto s = make_scheduler("dike", m, {.high_bandwidth = {0, 1}});
    constexpr int quanta = 200;
    const totals sum = run(*s, w, quanta, rates);
    for (thread_id t = 2; t < 6; ++t)
      EXPECT_NEAR(sum.on_high.at(t), quanta / 2, quanta / 20)
          << "thread " << t << (rates ? ", rates" : ", classes");
  }
}

TEST(dike, turns_are_fair_also_where_few_pairs_may_change_at_once) {
  world w{cores(6), {}};
  for (core_id c = 0; c < 8; ++c) w.actors.push_back(c == 7 ? compute_on(c) : memory_on(c));
  const machine m = machine::uniform(8);
  const auto s = make_scheduler("dike", m, {.swap_size = 2, .high_bandwidth = {0, 1}});
  constexpr int quanta = 700;
  const totals sum = run(*s, w, quanta);
  for (thread_id t = 0; t < 7; ++t)
    EXPECT_NEAR(sum.on_high.at(t), quanta * 2 / 7, quanta / 35) << "thread " << t;
}

TEST(dike, to_the_letter_a_memory_thread_without_a_high_core_never_gets_one) {
  world w{cores(4),
          {memory_on(0), memory_on(1), memory_on(2), memory_on(3), compute_on(4), compute_on(5)}};
  const machine m = machine::uniform(6);
  const auto s = make_scheduler("dike", m, {.high_bandwidth = {0, 1}, .turns = false});
  const totals sum = run(*s, w, 200);
  EXPECT_EQ(sum.on_high.count(2), 0u);
  EXPECT_EQ(sum.on_high.count(3), 0u);
  EXPECT_GT(sum.swaps, 0u) << "they change places with one another, on low cores";
}

TEST(dike, threads_of_one_class_take_turns) {
  world w{cores(2), {memory_on(0), memory_on(1), memory_on(2), memory_on(3)}};
  const machine m = machine::uniform(4);
  const auto s = make_scheduler("dike", m, {.more_than_half = true, .high_bandwidth = {0, 1}});
  const totals sum = run(*s, w, 200);
  for (thread_id t = 0; t < 4; ++t) EXPECT_NEAR(sum.on_high.at(t), 100, 10) << "thread " << t;
}

TEST(dike, the_gate_closes_below_theta_f) {
  world w{{100.0, 100.0, 95.0, 95.0}, {memory_on(0), memory_on(2), compute_on(1), compute_on(3)}};
  const machine m = machine::uniform(4);
  const auto fair = make_scheduler("dike", m, {.high_bandwidth = {0, 1}});
  EXPECT_EQ(run(*fair, w, 10).swaps, 0u) << "cv 0.026 by program";
  const auto strict = make_scheduler("dike", m, {.fair_below = 0.01, .high_bandwidth = {0, 1}});
  EXPECT_GT(run(*strict, w, 10).swaps, 0u);
}

// E38
TEST(dike, with_the_global_cv_a_mix_is_never_fair) {
  world by_program{cores(2), {memory_on(2), memory_on(3), compute_on(0), compute_on(1)}},
      global = by_program;
  const machine m = machine::uniform(4);
  EXPECT_EQ(run(*make_scheduler("dike", m, {.high_bandwidth = {0, 1}}), by_program, 5).swaps, 0u)
      << "equal within each program";
  EXPECT_EQ(
      run(*make_scheduler("dike", m, {.global_cv = true, .high_bandwidth = {0, 1}}), global, 5)
          .swaps,
      2u);
}

// S4, III-D
TEST(dike, no_more_than_half_of_the_threads_change_places) {
  const machine m = machine::uniform(8);
  for (const bool more : {false, true}) {
    world w{{100, 100, 100, 100, 40, 40, 40, 40}, {}};
    for (core_id c = 0; c < 8; ++c) w.actors.push_back(c < 4 ? compute_on(c) : memory_on(c));
    w.actors[0].demand_per_s = 50.0;  // not fair
    EXPECT_EQ(
        make_scheduler("dike", m,
                       {.swap_size = 8, .more_than_half = more, .high_bandwidth = {0, 1, 2, 3}})
            ->tick(w.see(0.5))
            .swaps,
        more ? 4u : 2u);
  }
}

// E36
TEST(dike, swap_size_counts_threads_or_pairs) {
  const machine m = machine::uniform(8);
  for (const bool pairs : {false, true}) {
    world w{{100, 100, 100, 100, 40, 40, 40, 40}, {}};
    for (core_id c = 0; c < 8; ++c) w.actors.push_back(c < 4 ? compute_on(c) : memory_on(c));
    w.actors[0].demand_per_s = 50.0;  // not fair
    const auto s =
        make_scheduler("dike", m, {.swap_size = 2, .pairs = pairs, .high_bandwidth = {0, 1, 2, 3}});
    EXPECT_EQ(s->tick(w.see(0.5)).swaps, pairs ? 2u : 1u);
  }
}

// S4, III-D
TEST(dike, a_thread_is_not_swapped_in_consecutive_quanta) {
  for (const std::uint32_t cool_down : {0u, 1u, 3u}) {
    world w{cores(2), {memory_on(0), memory_on(1), memory_on(2), memory_on(3)}};
    const machine m = machine::uniform(4);
    const auto s = make_scheduler("dike", m, {.cool_down = cool_down, .high_bandwidth = {0, 1}});
    std::map<thread_id, int> last;
    int least = 100;
    for (int q = 0; q < 40; ++q) {
      const answer a = s->tick(w.see(0.5));
      w.carry_out(a);
      for (const move& moved : a.moves) {
        if (last.count(moved.thread)) least = std::min(least, q - last[moved.thread]);
        last[moved.thread] = q;
      }
    }
    EXPECT_EQ(least, static_cast<int>(cool_down) + 1);
  }
}

// E37, E48
TEST(dike, margin_and_overhead_reject_exchanges_that_gain_little) {
  const machine m = machine::uniform(4);
  const world start{cores(2), {compute_on(0), compute_on(1), memory_on(2), memory_on(3, 2)}};
  for (const auto& [options, swaps] :
       {std::pair{
            scheduler_options{.more_than_half = true, .global_cv = true, .high_bandwidth = {0, 1}},
            2u},
        std::pair{scheduler_options{.more_than_half = true,
        .global_cv = true,
        .profit_margin = 1.0,
        .high_bandwidth = {0, 1}},
                  0u},
        std::pair{scheduler_options{.more_than_half = true,
        .global_cv = true,
        .swap_overhead_s = 0.01,
        .high_bandwidth = {0, 1}},
                  0u}}) {
    world w = start;
    const answer a = make_scheduler("dike", m, options)->tick(w.see(0.5));
    EXPECT_EQ(a.swaps, swaps) << "in a steady state the profit of any exchange is 0";
    EXPECT_EQ(a.swaps + a.rejected, 2u);
  }
}

TEST(dike, expects_of_who_stays_what_it_had_and_of_who_moves_what_the_core_gave) {
  world w{cores(2), {compute_on(0), memory_on(2), memory_on(1)}};
  const machine m = machine::uniform(4);
  const answer a = make_scheduler("dike", m, {.high_bandwidth = {0, 1}})->tick(w.see(0.5));
  ASSERT_EQ(a.swaps, 1u);
  ASSERT_EQ(a.expected.size(), 3u);
  EXPECT_DOUBLE_EQ(a.expected[0].misses_per_s, 40.0);
  EXPECT_DOUBLE_EQ(a.expected[1].misses_per_s, 5.0);
  EXPECT_DOUBLE_EQ(a.expected[2].misses_per_s, 100.0);
}

TEST(dike, in_a_steady_state_the_prediction_is_right) {
  world w{cores(2), {memory_on(0), memory_on(1), memory_on(2), memory_on(3)}};
  const machine m = machine::uniform(4);
  const auto s = make_scheduler("dike", m, {.high_bandwidth = {0, 1}});
  answer before = s->tick(w.see(0.5));
  for (int q = 0; q < 20; ++q) {
    w.carry_out(before);
    const observation o = w.see(0.5);
    for (std::size_t i = 0; i < o.threads.size(); ++i)
      EXPECT_NEAR(
          *prediction_error(before.expected[i].misses_per_s, *o.threads[i].misses / o.length_s),
          0.0, 1e-9);
    before = s->tick(o);
  }
}

// E41
TEST(dike, finished_threads_are_dropped_and_an_empty_core_is_no_partner) {
  world w{cores(4),
          {compute_on(0), compute_on(1), memory_on(2), memory_on(3), memory_on(4), memory_on(5)}};
  const machine m = machine::uniform(6);
  const auto s = make_scheduler("dike", m, {.high_bandwidth = {0, 1}});
  for (thread_id t = 0; t < 6; ++t) {
    run(*s, w, 4);
    std::set<core_id> before, after;
    for (const actor& a : w.actors)
      if (a.alive) before.insert(a.core);
    w.actors[t].alive = false;
    before.erase(w.actors[t].core);
    run(*s, w, 4);
    for (const actor& a : w.actors)
      if (a.alive) after.insert(a.core);
    EXPECT_EQ(before, after) << "the core that fell empty stays empty";
  }
}

// E40: background threads are exchanged like others, and only not counted when the workload is
// classified.
TEST(dike, background_threads_do_not_change_the_class_of_the_workload) {
  const machine m = machine::uniform(6);
  for (const bool background : {true, false}) {
    // Memory and compute in balance; two more compute threads.
    world w{cores(4),
            {memory_on(0), memory_on(2), compute_on(1), compute_on(3), compute_on(4, 2),
             compute_on(5, 2)}};
    w.actors[4].background = w.actors[5].background = background;
    scheduler_options options{.high_bandwidth = {0, 1}, .optimizer_every = 1, .turns = false};
    const auto s = make_scheduler("dike-af", m, options);
    EXPECT_EQ(s->tick(w.see(0.5)).next_s, 0.2);
    // Balanced goes on to 100 ms, more compute has its floor at 200.
    EXPECT_EQ(s->tick(w.see(0.2)).next_s, background ? 0.1 : 0.2);
  }
}

// E44
TEST(dike, the_optimizer_runs_every_so_many_quanta_on_their_mean_cv) {
  const machine m = machine::uniform(4);
  world unfair{cores(2), {memory_on(0), memory_on(2)}};
  const auto s = make_scheduler("dike-ap", m, {.strict_pairs = true});
  for (int q = 1; q < 20; ++q) EXPECT_EQ(s->tick(unfair.see(0.5)).next_s, 0.5);
  EXPECT_EQ(s->tick(unfair.see(0.5)).next_s, 1.0);

  const auto fixed = make_scheduler("dike", m);
  for (int q = 0; q < 45; ++q) EXPECT_EQ(fixed->tick(unfair.see(0.5)).next_s, 0.5);
}

// E33
TEST(dike, bidirectional_adaptation_comes_back_when_the_system_is_fair) {
  const machine m = machine::uniform(4);
  for (const bool both : {false, true}) {
    world w{cores(2), {memory_on(0), memory_on(2), compute_on(1), compute_on(3)}};
    const auto s = make_scheduler("dike-af", m, {.optimizer_every = 1, .bidirectional = both});
    w.actors[1].movable = false;
    EXPECT_EQ(s->tick(w.see(0.5)).next_s, 0.2);
    w.actors[0].demand_per_s = w.actors[1].demand_per_s = 40.0;
    EXPECT_EQ(s->tick(w.see(0.2)).next_s, both ? 0.5 : 0.2);
  }
}

// papers.md A5.2
TEST(dike, a_window_forgets_what_a_core_once_gave) {
  const machine m = machine::uniform(2);
  for (const std::uint32_t window : {0u, 2u}) {
    world w{{100.0, 50.0}, {compute_on(0), memory_on(1)}};
    w.actors[0].movable = false;
    const auto s =
        make_scheduler("dike", m, {.fair_below = 0.0, .window = window, .high_bandwidth = {0}});
    for (int q = 0; q < 10; ++q) (void)s->tick(w.see(0.5));
    w.actors[0].demand_per_s = 90.0;
    w.actors[0].kind = M;
    for (int q = 0; q < 2; ++q) (void)s->tick(w.see(0.5));
    w.actors[0].movable = true;  // both of class memory now, so they are paired from the ends
    const answer a = s->tick(w.see(0.5));
    ASSERT_EQ(a.swaps + a.rejected, 1u);
    // The mean over all still remembers 5 per second on core 0: too little for a profit.
    EXPECT_EQ(a.swaps, window == 2 ? 1u : 0u);
  }
}

// E35
TEST(dike, cores_may_be_fixed_and_where_only_classes_are_seen_the_kinds_decide) {
  const machine m = two_kinds(2, 2);
  world w{cores(2), {compute_on(0), compute_on(1), memory_on(2), memory_on(3)}}, equal = w;
  EXPECT_EQ(run(*make_scheduler("dike", m), w, 3, false).swaps, 2u);
  EXPECT_EQ(run(*make_scheduler("dike", machine::uniform(4)), equal, 3, false).swaps, 0u)
      << "nothing is known about equal cores";
}

// E49
TEST(dike, forty_threads_on_forty_cores) {
  const machine m = machine::uniform(40, 2);
  world w;
  for (core_id c = 0; c < 40; ++c) {
    w.core_per_s.push_back(c < 20 ? 100.0 : 40.0);
    w.actors.push_back(c % 5 < 2 ? memory_on(c, c % 5) : compute_on(c, c % 5));
  }
  std::vector<core_id> high(20);
  for (core_id c = 0; c < 20; ++c) high[c] = c;
  run(*make_scheduler("dike", m, {.high_bandwidth = high}), w, 20);
  EXPECT_TRUE(std::all_of(w.actors.begin(), w.actors.end(),
                          [](const actor& a) { return a.kind == C || a.core < 20; }));
}
