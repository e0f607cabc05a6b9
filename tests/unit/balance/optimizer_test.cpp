// Algorithm 2, line by line, and what papers.md E33, E40, E42 and E43 say about it.

#include <gtest/gtest.h>

#include "balance/optimizer.hpp"

using namespace kilter::balance;

namespace {

constexpr auto B = workload_mix::balanced;
constexpr auto UC = workload_mix::more_compute;
constexpr auto UM = workload_mix::more_memory;
using config = swap_configuration;

constexpr std::uint32_t half = 16;  // of S4's threads

config next(config c, goal g, workload_mix mix, std::uint32_t most = half) {
  return next_configuration(c, g, mix, false, false, most);
}

thread_view of(thread_class kind, bool background = false) {
  thread_view t;
  t.kind = kind;
  t.background = background;
  return t;
}

}  // namespace

TEST(optimizer, fairness_shortens_the_quantum_down_to_the_floor_of_the_mix) {
  EXPECT_EQ(next({8, 0.5}, goal::fairness, B), (config{8, 0.2}));
  EXPECT_EQ(next({8, 0.2}, goal::fairness, B), (config{8, 0.1}));
  EXPECT_EQ(next({8, 0.1}, goal::fairness, B), (config{8, 0.1}));
  EXPECT_EQ(next({8, 0.5}, goal::fairness, UC), (config{10, 0.2}));
  EXPECT_EQ(next({10, 0.2}, goal::fairness, UC), (config{12, 0.2}));
  EXPECT_EQ(next({8, 1.0}, goal::fairness, UM), (config{10, 0.5}));
  EXPECT_EQ(next({8, 0.5}, goal::fairness, UM), (config{10, 0.5}));
}

TEST(optimizer, performance_lengthens_the_quantum_and_swaps_more_only_where_compute_prevails) {
  EXPECT_EQ(next({8, 0.5}, goal::performance, B), (config{8, 1.0}));
  EXPECT_EQ(next({8, 1.0}, goal::performance, B), (config{8, 1.0}));
  EXPECT_EQ(next({8, 0.2}, goal::performance, UC), (config{10, 0.5}));
  EXPECT_EQ(next({8, 0.1}, goal::performance, UM), (config{8, 0.2}));
}

TEST(optimizer, half_of_the_threads_are_the_most) {
  EXPECT_EQ(next({16, 0.5}, goal::fairness, UM).swap_size, 16u);
  EXPECT_EQ(next({15, 0.5}, goal::fairness, UM).swap_size, 16u);
  EXPECT_EQ(next({20, 0.5}, goal::fairness, UM).swap_size, 20u)
      << "a cap on growth never lowers what the user chose";
  EXPECT_EQ(next({8, 0.5}, goal::fairness, UM, 32).swap_size, 10u);
  EXPECT_EQ(next({16, 0.5}, goal::fairness, UM, 32).swap_size, 18u);
}

TEST(optimizer, half_is_of_the_threads_that_it_may_move) {
  std::vector<thread_view> threads(40);
  for (std::size_t i = 32; i < 40; ++i) threads[i].background = true;
  EXPECT_EQ(most_swapped(threads), 16u);
  for (std::size_t i = 0; i < 27; ++i) threads[i].movable = false;
  EXPECT_EQ(most_swapped(threads), 2u) << "five are left: one pair";
  EXPECT_EQ(most_swapped({}), 2u);
}

// E33
TEST(optimizer, as_printed_a_floor_lifts_a_quantum_that_is_below_it) {
  EXPECT_EQ(next({8, 0.1}, goal::fairness, UM).quantum_s, 0.5);
  EXPECT_EQ(next({8, 0.1}, goal::fairness, UC).quantum_s, 0.2);
}

// E33
TEST(optimizer, as_printed_nothing_ever_lowers_swap_size_or_reverses_the_quantum) {
  config fair{8, 0.5}, fast{8, 0.5};
  for (const workload_mix mix : {UM, UM, B, UC, B, B, UC}) {
    const config before_fair = fair, before_fast = fast;
    fair = next(fair, goal::fairness, mix);
    fast = next(fast, goal::performance, mix);
    EXPECT_GE(fair.swap_size, before_fair.swap_size);
    EXPECT_GE(fast.swap_size, before_fast.swap_size);
    EXPECT_GE(fast.quantum_s, before_fast.quantum_s);
  }
  EXPECT_EQ(next_configuration({16, 0.1}, goal::fairness, B, true, false, half), (config{16, 0.1}))
      << "not even while the system is fair";
}

// E33
TEST(optimizer, bidirectional_relaxes_towards_the_default_while_the_system_is_fair) {
  config c{16, 0.1};
  std::vector<config> path;
  for (int i = 0; i < 5; ++i)
    path.push_back(c = next_configuration(c, goal::fairness, UM, true, true, half));
  EXPECT_EQ(path, (std::vector<config>{{14, 0.2}, {12, 0.5}, {10, 0.5}, {8, 0.5}, {8, 0.5}}));
  EXPECT_EQ(next_configuration({2, 1.0}, goal::performance, B, true, true, half), (config{4, 0.5}));
  EXPECT_EQ(next_configuration({8, 0.5}, goal::fairness, B, false, true, half), (config{8, 0.2}))
      << "while it is unfair the rules hold";
}

TEST(optimizer, without_a_goal_nothing_changes) {
  EXPECT_EQ(next({8, 0.2}, goal::none, UM), (config{8, 0.2}));
}

// E42, E43
TEST(optimizer, begins_at_8_and_500_ms_and_needs_three_steps_from_100_ms_to_1000) {
  EXPECT_EQ(config{}, (config{8, 0.5}));
  config c{8, 0.1};
  for (int i = 0; i < 3; ++i) c = next(c, goal::performance, B);
  EXPECT_EQ(c.quantum_s, 1.0);
}

// E40
TEST(optimizer, the_mix_is_counted_without_background_threads) {
  const auto C = thread_class::compute, M = thread_class::memory;
  std::vector<thread_view> threads = {of(C), of(M), of(C, true), of(C, true),
                                      of(thread_class::unknown)};
  EXPECT_EQ(mix_of(threads), B);
  threads.push_back(of(M));
  EXPECT_EQ(mix_of(threads), UM);
  threads.push_back(of(C));
  threads.push_back(of(C));
  EXPECT_EQ(mix_of(threads), UC);
}
