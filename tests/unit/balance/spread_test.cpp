// What is done without knowing anything: who waits beside an idle core is sent there, a core that
// others hold is shared in turns, and everybody else is left alone.

#include "unit/balance/world.hpp"

using namespace kilter;
using namespace kilter::balance;
using namespace kilter::balance::test;

namespace {

world threads_on(const std::vector<core_id>& cores, std::size_t of) {
  world w{std::vector<double>(of, 1.0), {}};
  for (const core_id c : cores) w.actors.push_back({.core = c});
  return w;
}

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
