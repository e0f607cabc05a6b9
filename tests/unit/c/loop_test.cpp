// kilter/kilter.h: loops on Kilter's workers give what they should, and nothing but a status comes
// out.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "kilter/kilter.h"

namespace {

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

}  // namespace
