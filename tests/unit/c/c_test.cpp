// kilter/kilter.h: loops on Kilter's workers give what they should, and nothing but a status comes
// out; what is said of calls that are wrong, which docs/library.md quotes and tests/guide.py finds
// here; threads of a program's own, whose reports become shares.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "c/pool.hpp"
#include "kilter/kilter.h"

namespace {

// ---- loops --------------------------------------------------------------------------------------

kilter_runtime* with_workers(std::size_t n, const char* policy = nullptr) {
  kilter_runtime_options o = KILTER_RUNTIME_OPTIONS_INIT;
  o.workers = n;
  o.policy = policy;
  kilter_runtime* rt = nullptr;
  EXPECT_EQ(kilter_runtime_create(&o, &rt), KILTER_OK) << kilter_last_error();
  return rt;
}

struct counts {
  std::vector<std::atomic<int>> times;
  std::size_t first = 0;
};
void count(std::size_t begin, std::size_t end, void* data) {
  auto& c = *static_cast<counts*>(data);
  for (std::size_t i = begin; i < end; ++i) c.times[i - c.first].fetch_add(1);
}

TEST(c_loop, does_every_iteration_once_on_1_2_and_4_workers_under_several_policies) {
  for (const char* policy : {static_cast<const char*>(nullptr), "rws", "dam-c"})
    for (const std::size_t workers : {1, 2, 4}) {
      kilter_runtime* rt = with_workers(workers, policy);
      EXPECT_EQ(kilter_runtime_workers(rt), workers);
      for (const std::size_t n : {0, 1, 3, 1000, 70'001}) {
        counts c{std::vector<std::atomic<int>>(n), 5};
        ASSERT_EQ(kilter_parallel_for(rt, "count", 5, n + 5, count, &c), KILTER_OK)
            << kilter_last_error();
        for (auto& t : c.times) ASSERT_EQ(t.load(), 1) << workers << " workers, n " << n;
      }
      EXPECT_EQ(kilter_runtime_destroy(rt), KILTER_OK);
    }
}

TEST(c_loop, without_options_there_is_a_worker_for_each_core) {
  kilter_runtime* rt = nullptr;
  ASSERT_EQ(kilter_runtime_create(nullptr, &rt), KILTER_OK);
  EXPECT_GE(kilter_runtime_workers(rt), 1u);
  EXPECT_GE(kilter_runtime_cpu(rt, 0), 0);
  EXPECT_EQ(kilter_runtime_cpu(rt, kilter_runtime_workers(rt)), -1);
  kilter_runtime_destroy(rt);

  kilter_runtime_options o = KILTER_RUNTIME_OPTIONS_INIT;
  o.unpinned = 1;
  ASSERT_EQ(kilter_runtime_create(&o, &rt), KILTER_OK);
  EXPECT_EQ(kilter_runtime_cpu(rt, 0), -1);
  kilter_runtime_destroy(rt);
}

TEST(c_loop, a_body_may_run_loops) {
  kilter_runtime* rt = with_workers(2);
  struct outer {
    kilter_runtime* rt;
    std::atomic<std::uint64_t> sum{0};
  } o{rt};
  EXPECT_EQ(kilter_parallel_for(
                rt, "outer", 0, 20,
                [](std::size_t begin, std::size_t end, void* data) {
                  auto* here = static_cast<outer*>(data);
                  for (; begin < end; ++begin)
                    if (kilter_parallel_for(
                            here->rt, "inner", 0, 100,
                            [](std::size_t first, std::size_t last, void* d) {
                              static_cast<outer*>(d)->sum += last - first;
                            },
                            here) != KILTER_OK)
                      here->sum = 1'000'000;
                },
                &o),
            KILTER_OK);
  EXPECT_EQ(o.sum.load(), 2000u);
  kilter_runtime_destroy(rt);
}

TEST(c_loop, several_threads_may_use_one_runtime_or_have_their_own) {
  kilter_runtime* shared = with_workers(2);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int round = 0; round < 10; ++round) {
        kilter_runtime* own = with_workers(2);
        for (kilter_runtime* rt : {own, shared}) {
          counts c{std::vector<std::atomic<int>>(500)};
          if (kilter_parallel_for(rt, "count", 0, 500, count, &c) != KILTER_OK) ++wrong;
          for (auto& times : c.times)
            if (times != 1) ++wrong;
        }
        if (kilter_runtime_destroy(own) != KILTER_OK) ++wrong;
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  kilter_runtime_destroy(shared);
}

TEST(c_loop, no_exception_of_a_body_comes_out_and_the_runtime_goes_on) {
  kilter_runtime* rt = with_workers(2);
  EXPECT_EQ(
      kilter_parallel_for(
          rt, "throws", 0, 100,
          [](std::size_t, std::size_t, void*) { throw std::logic_error("no\nfile"); }, nullptr),
      KILTER_BODY);
  EXPECT_STREQ(kilter_last_error(), "kilter_parallel_for: the body threw: no file");
  EXPECT_EQ(kilter_parallel_for(
                rt, "throws", 0, 100, [](std::size_t, std::size_t, void*) { throw 7; }, nullptr),
            KILTER_BODY);
  EXPECT_STREQ(kilter_last_error(),
               "kilter_parallel_for: the body threw something that is no std::exception");
  counts c{std::vector<std::atomic<int>>(100)};
  EXPECT_EQ(kilter_parallel_for(rt, "throws", 0, 100, count, &c), KILTER_OK);
  for (auto& t : c.times) EXPECT_EQ(t.load(), 1);
  kilter_runtime_destroy(rt);
}

TEST(c_loop, shares_and_worths_are_those_of_the_loop) {
  kilter_runtime* rt = with_workers(4);
  std::size_t begins[5] = {9, 9, 9, 9, 9};
  ASSERT_EQ(kilter_runtime_shares(rt, "nobody ran it", 8, begins, 5), KILTER_OK);
  for (std::size_t w = 0; w <= 4; ++w)
    EXPECT_EQ(begins[w], 2 * w) << "of a loop that nobody ran, all get the same";
  ASSERT_EQ(kilter_runtime_shares(rt, "nobody ran it", 0, begins, 5), KILTER_OK);
  for (const std::size_t b : begins) EXPECT_EQ(b, 0u);
  double worth[4] = {};
  for (const char* name : {static_cast<const char*>(nullptr), "nobody ran it"}) {
    ASSERT_EQ(kilter_runtime_worth(rt, name, worth, 4), KILTER_OK);
    for (const double w : worth) EXPECT_EQ(w, 1.0);
  }

  counts c{std::vector<std::atomic<int>>(100'000)};
  for (int round = 0; round < 20; ++round)
    ASSERT_EQ(kilter_parallel_for(rt, "count", 0, 100'000, count, &c), KILTER_OK);
  for (const char* name : {static_cast<const char*>(nullptr), "count"}) {
    ASSERT_EQ(kilter_runtime_worth(rt, name, worth, 4), KILTER_OK);
    for (const double w : worth) {
      EXPECT_GT(w, 0.0);
      EXPECT_LE(w, 1.0);
    }
  }
  for (const std::size_t n :
       {std::size_t{1}, std::size_t{1000}, std::size_t{1'000'000}, SIZE_MAX}) {
    ASSERT_EQ(kilter_runtime_shares(rt, "count", n, begins, 5), KILTER_OK);
    EXPECT_EQ(begins[0], 0u);
    EXPECT_EQ(begins[4], n);
    for (std::size_t w = 0; w < 4; ++w) EXPECT_LE(begins[w], begins[w + 1]);
  }
  kilter_runtime_destroy(rt);
}

// ---- wrong calls --------------------------------------------------------------------------------

void nothing(std::size_t, std::size_t, void*) {}

/// The call has failed with that status, and says that after its own name.
#define EXPECT_REFUSED(call, status, words) \
  do {                                      \
    EXPECT_EQ(call, status);                \
    EXPECT_STREQ(said(), words);            \
  } while (false)
const char* said() {
  const char* line = kilter_last_error();
  while (*line && *line != ' ') ++line;
  return *line ? line + 1 : line;
}

struct c_misuse : testing::Test {
  void SetUp() override {
    kilter_runtime_options o = KILTER_RUNTIME_OPTIONS_INIT;
    o.workers = 2;
    ASSERT_EQ(kilter_runtime_create(&o, &rt), KILTER_OK);
    ASSERT_EQ(kilter_pool_create(2, &pool), KILTER_OK);
    ASSERT_EQ(kilter_pool_region(pool, "twice", &twice), KILTER_OK);
  }
  void TearDown() override {
    EXPECT_EQ(kilter_runtime_destroy(rt), KILTER_OK);
    EXPECT_EQ(kilter_pool_destroy(pool), KILTER_OK);
  }
  kilter_runtime* rt = nullptr;
  kilter_pool* pool = nullptr;
  kilter_region* twice = nullptr;
};

TEST_F(c_misuse, of_options) {
  kilter_runtime_options o{};
  kilter_runtime* none = rt;
  EXPECT_REFUSED(kilter_runtime_create(&o, &none), KILTER_USAGE,
                 "options.size is 0, and 32 in this version of Kilter; begin with "
                 "KILTER_RUNTIME_OPTIONS_INIT");
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(std::string(kilter_last_error()).find("kilter_runtime_create: "), 0u);
  o = KILTER_RUNTIME_OPTIONS_INIT;
  o.workers = 100'000;
  EXPECT_REFUSED(kilter_runtime_create(&o, &none), KILTER_INPUT,
                 "options.workers is 100000; at most 1024 are supported, 0 is one for each core");
  o.workers = 2;
  o.policy = "dam";
  EXPECT_EQ(kilter_runtime_create(&o, &none), KILTER_INPUT);
  EXPECT_EQ(std::string(said()).find("no policy 'dam'; there are rws"), 0u) << said();
  EXPECT_REFUSED(kilter_runtime_create(nullptr, nullptr), KILTER_USAGE,
                 "runtime is NULL; give the address of a kilter_runtime*");
}

TEST_F(c_misuse, of_a_loop) {
  EXPECT_REFUSED(kilter_parallel_for(nullptr, "loop", 0, 9, nothing, nullptr), KILTER_USAGE,
                 "runtime is NULL; give what kilter_runtime_create made");
  EXPECT_REFUSED(kilter_parallel_for(rt, nullptr, 0, 9, nothing, nullptr), KILTER_USAGE,
                 "name is NULL; give the loop a name of its own");
  EXPECT_REFUSED(kilter_parallel_for(rt, "", 0, 9, nothing, nullptr), KILTER_USAGE,
                 "name is empty; give the loop a name of its own");
  EXPECT_REFUSED(kilter_parallel_for(rt, "loop", 0, 9, nullptr, nullptr), KILTER_USAGE,
                 "body is NULL; give the function that does a piece of the loop");
  EXPECT_REFUSED(kilter_parallel_for(rt, "loop", 9, 0, nothing, nullptr), KILTER_USAGE,
                 "the loop begins at 9 and ends at 0; begin must not be above end");
}

TEST_F(c_misuse, of_arrays) {
  double worth[3];
  std::size_t begins[3];
  EXPECT_REFUSED(kilter_runtime_worth(nullptr, nullptr, worth, 2), KILTER_USAGE,
                 "runtime is NULL; give what kilter_runtime_create made");
  EXPECT_REFUSED(kilter_runtime_worth(rt, nullptr, worth, 3), KILTER_USAGE,
                 "length is 3; worth must have 2 elements");
  EXPECT_REFUSED(kilter_runtime_worth(rt, nullptr, nullptr, 2), KILTER_USAGE,
                 "worth is NULL; give an array of 2");
  EXPECT_REFUSED(kilter_runtime_worth(rt, "", worth, 2), KILTER_USAGE,
                 "name is empty; give the loop a name of its own");
  EXPECT_REFUSED(kilter_runtime_shares(rt, "loop", 9, begins, 2), KILTER_USAGE,
                 "length is 2; begins must have 3 elements");
  EXPECT_REFUSED(kilter_runtime_shares(rt, nullptr, 9, begins, 3), KILTER_USAGE,
                 "name is NULL; give the loop a name of its own");
  EXPECT_REFUSED(kilter_region_shares(twice, 9, begins, 2), KILTER_USAGE,
                 "length is 2; begins must have 3 elements");
  EXPECT_REFUSED(kilter_region_shares(twice, 9, nullptr, 3), KILTER_USAGE,
                 "begins is NULL; give an array of 3");
}

TEST_F(c_misuse, of_destroying) {
  EXPECT_EQ(kilter_runtime_destroy(nullptr), KILTER_OK);
  EXPECT_EQ(kilter_pool_destroy(nullptr), KILTER_OK);
  EXPECT_EQ(kilter_runtime_workers(nullptr), 0u);
  EXPECT_EQ(kilter_runtime_cpu(nullptr, 0), -1);
  struct seen {
    kilter_runtime* rt;
    int status = KILTER_OK;
    std::string words{};
  } s{rt};
  ASSERT_EQ(kilter_parallel_for(
                rt, "destroys", 0, 1,
                [](std::size_t, std::size_t, void* data) {
                  auto& here = *static_cast<seen*>(data);
                  here.status = kilter_runtime_destroy(here.rt);
                  here.words = said();
                },
                &s),
            KILTER_OK);
  EXPECT_EQ(s.status, KILTER_USAGE);
  EXPECT_EQ(s.words,
            "a body cannot destroy the runtime that runs it; do it when kilter_parallel_for has "
            "returned");
}

TEST_F(c_misuse, of_a_pool) {
  kilter_pool* none = pool;
  EXPECT_REFUSED(kilter_pool_create(0, &none), KILTER_INPUT,
                 "a pool of 0 threads; 1 to 512 are supported");
  EXPECT_EQ(none, nullptr);
  EXPECT_REFUSED(kilter_pool_create(513, &none), KILTER_INPUT,
                 "a pool of 513 threads; 1 to 512 are supported");
  EXPECT_REFUSED(kilter_pool_create(2, nullptr), KILTER_USAGE,
                 "pool is NULL; give the address of a kilter_pool*");
  kilter_region* region = twice;
  EXPECT_REFUSED(kilter_pool_region(nullptr, "twice", &region), KILTER_USAGE,
                 "pool is NULL; give what kilter_pool_create made");
  EXPECT_EQ(region, nullptr);
  EXPECT_REFUSED(kilter_pool_region(pool, nullptr, &region), KILTER_USAGE,
                 "name is NULL; give the region a name of its own");
  EXPECT_REFUSED(kilter_pool_region(pool, "twice", nullptr), KILTER_USAGE,
                 "region is NULL; give the address of a kilter_region*");
  ASSERT_EQ(kilter_pool_region(pool, "twice", &region), KILTER_OK);
  EXPECT_EQ(region, twice) << "equal names are one region";
}

TEST_F(c_misuse, of_regions) {
  EXPECT_REFUSED(kilter_region_begin(nullptr, 0), KILTER_USAGE,
                 "region is NULL; give what kilter_pool_region found");
  EXPECT_REFUSED(kilter_region_end(nullptr, 0, 1), KILTER_USAGE,
                 "region is NULL; give what kilter_pool_region found");
  EXPECT_REFUSED(kilter_region_begin(twice, 2), KILTER_USAGE,
                 "thread 2 is not of this pool; its threads are 0 to 1");
  EXPECT_REFUSED(kilter_region_end(twice, 1, 5), KILTER_USAGE,
                 "thread 1 ends region 'twice', which it has not begun");
  kilter_region* other = nullptr;
  ASSERT_EQ(kilter_pool_region(pool, "other", &other), KILTER_OK);
  ASSERT_EQ(kilter_region_begin(twice, 1), KILTER_OK);
  EXPECT_REFUSED(kilter_region_begin(other, 1), KILTER_USAGE,
                 "thread 1 begins region 'other' but is in region 'twice'; it must end that first");
  EXPECT_REFUSED(kilter_region_end(other, 1, 5), KILTER_USAGE,
                 "thread 1 ends region 'other', which it has not begun");
  EXPECT_REFUSED(kilter_pool_destroy(pool), KILTER_USAGE,
                 "thread 1 is in region 'twice'; a pool is destroyed when all have ended theirs");
  std::thread([&] {
    EXPECT_STREQ(kilter_last_error(), "") << "the line is of the thread that failed";
    EXPECT_REFUSED(kilter_region_end(twice, 1, 5), KILTER_USAGE,
                   "thread 1 of the pool ends region 'twice' on another thread of the process than "
                   "it began it on");
  }).join();
  EXPECT_EQ(kilter_region_end(twice, 1, 5), KILTER_OK);
  EXPECT_REFUSED(kilter_region_end(twice, 1, 5), KILTER_USAGE,
                 "thread 1 ends region 'twice', which it has not begun");
}

}  // namespace

namespace kilter::c {
namespace {

// ---- a program's own threads --------------------------------------------------------------------

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
