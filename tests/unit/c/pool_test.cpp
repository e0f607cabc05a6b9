// Threads of a program's own: how their reports become shares.

#include "c/pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "kilter/kilter.h"

namespace kilter::c {
namespace {

/// A pool of two threads in a time of its own. Each round both do 1000 items; a thread's item takes
/// so many microseconds of a core, and `wall` times as long.
struct two_threads {
  pool threads{2};
  double now_s = 0.0;
  void rounds(region& r, int n, double item_0_us, double item_1_us, double wall_1 = 1.0) {
    for (; n > 0; --n) {
      now_s += 1e-3 * std::max(item_0_us, item_1_us * wall_1);
      r.learn(0, 1000, 1e-3 * item_0_us, 1e-3 * item_0_us, now_s);
      r.learn(1, 1000, 1e-3 * item_1_us * wall_1, 1e-3 * item_1_us, now_s);
    }
  }
  /// Of 1000 items, those of thread 0.
  static std::uint64_t first_of(const region& r) { return r.shares(1000)[1]; }
};

TEST(c_pool, parts_are_equal_until_something_is_learned) {
  pool p(4);
  EXPECT_EQ(p.named("region").shares(8), (std::vector<std::uint64_t>{0, 2, 4, 6, 8}));
  EXPECT_EQ(p.named("region").shares(0), (std::vector<std::uint64_t>(5, 0)));
  EXPECT_EQ(p.named("region").shares(1), (std::vector<std::uint64_t>{0, 1, 1, 1, 1}))
      << "one item is for thread 0";
}

TEST(c_pool, a_thread_on_a_slow_core_gets_less) {
  two_threads t;
  region& r = t.threads.named("region");
  t.rounds(r, 20, 1.0, 3.0);
  EXPECT_NEAR(static_cast<double>(t.first_of(r)), 750.0, 20.0);
}

TEST(c_pool, what_neighbours_take_of_a_thread_counts_in_all_regions_and_is_forgotten_when_they_go) {
  two_threads t;
  region &a = t.threads.named("a"), &b = t.threads.named("b");
  t.rounds(a, 20, 1.0, 1.0);
  t.rounds(b, 20, 1.0, 1.0);
  EXPECT_NEAR(static_cast<double>(t.first_of(b)), 500.0, 10.0);
  t.rounds(a, 100, 1.0, 1.0, 2.0);
  EXPECT_NEAR(static_cast<double>(t.first_of(a)), 667.0, 20.0);
  EXPECT_NEAR(static_cast<double>(t.first_of(b)), 667.0, 20.0)
      << "b did not run while the neighbour was there";
  t.rounds(a, 200, 1.0, 1.0);
  EXPECT_NEAR(static_cast<double>(t.first_of(a)), 500.0, 20.0);
  EXPECT_NEAR(static_cast<double>(t.first_of(b)), 500.0, 20.0);
}

TEST(c_pool, items_that_differ_count_in_their_region_alone) {
  two_threads t;
  region &triangle = t.threads.named("triangle"), &square = t.threads.named("square");
  t.rounds(square, 20, 1.0, 1.0);
  for (int round = 0; round < 20; ++round) t.rounds(triangle, 1, 1.0, 2.0);
  EXPECT_NEAR(static_cast<double>(t.first_of(triangle)), 667.0, 20.0);
  EXPECT_NEAR(static_cast<double>(t.first_of(square)), 500.0, 10.0);
}

TEST(c_pool, work_that_is_not_worth_a_second_thread_is_for_thread_0) {
  two_threads t;
  region& r = t.threads.named("region");
  t.rounds(r, 20, 1.0, 0.5);
  EXPECT_EQ(r.shares(10), (std::vector<std::uint64_t>{0, 10, 10}))
      << "5 us of work, though thread 1 is faster";
  EXPECT_LT(r.shares(1000)[1], 1000u);
}

TEST(c_pool, a_region_without_items_teaches_nothing) {
  kilter_pool* p = nullptr;
  kilter_region* r = nullptr;
  ASSERT_EQ(kilter_pool_create(2, &p), KILTER_OK);
  ASSERT_EQ(kilter_pool_region(p, "region", &r), KILTER_OK);
  ASSERT_EQ(kilter_region_begin(r, 1), KILTER_OK);
  ASSERT_EQ(kilter_region_end(r, 1, 0), KILTER_OK);
  std::size_t begins[3];
  ASSERT_EQ(kilter_region_shares(r, 2, begins, 3), KILTER_OK);
  EXPECT_EQ(begins[1], 1u)
      << "a known time of an item, however short, would leave both to thread 0";
  EXPECT_EQ(kilter_pool_destroy(p), KILTER_OK);
}

TEST(c_pool, threads_do_all_items_once_whatever_is_learned_meanwhile) {
  constexpr std::size_t threads = 4, n = 5000;
  kilter_pool* p = nullptr;
  ASSERT_EQ(kilter_pool_create(threads, &p), KILTER_OK);
  std::atomic<int> wrong{0};
  std::vector<std::atomic<int>> times(n);
  std::size_t begins[threads + 1] = {};
  for (int round = 0; round < 30; ++round) {
    kilter_region* r = nullptr;
    if (kilter_pool_region(p, round % 3 ? "often" : "rarely", &r) != KILTER_OK ||
        kilter_region_shares(r, n, begins, threads + 1) != KILTER_OK)
      ++wrong;
    std::vector<std::thread> pool_of_mine;
    for (std::size_t t = 0; t < threads; ++t)
      pool_of_mine.emplace_back([&, t] {
        if (kilter_region_begin(r, t) != KILTER_OK) ++wrong;
        for (std::size_t i = begins[t]; i < begins[t + 1]; ++i) times[i].fetch_add(1);
        std::size_t meanwhile[threads + 1];
        if (kilter_region_shares(r, n, meanwhile, threads + 1) != KILTER_OK) ++wrong;
        if (kilter_region_end(r, t, begins[t + 1] - begins[t]) != KILTER_OK) ++wrong;
      });
    for (auto& t : pool_of_mine) t.join();
  }
  for (auto& t : times) EXPECT_EQ(t.load(), 30);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(kilter_pool_destroy(p), KILTER_OK);
}

}  // namespace
}  // namespace kilter::c
