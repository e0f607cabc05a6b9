// Both readings of DIO (papers.md A5.3, E46, E47).

#include "unit/balance/world.hpp"

using namespace kilter;
using namespace kilter::balance;
using namespace kilter::balance::test;

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
