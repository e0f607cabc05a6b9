// parallel_for and parallel_reduce: every iteration once and none twice, from wherever they are
// called, and what happens when something fails.

#include "kilter/parallel.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <ranges>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "stress/watchdog.hpp"
#include "unit/runtime/scripted.hpp"

namespace kilter {
namespace {

const char* const both[] = {"rws", "dam-c"};

TEST(parallel_for, does_every_iteration_once_for_any_body_index_and_number_of_workers) {
  for (const char* p : both)
    for (const std::uint32_t workers : {1u, 2u, 5u}) {
      runtime rt(with_policy(p, workers));
      for (const std::int64_t n : {1, 2, 3, 64, 1000, 70'001}) {
        std::vector<std::atomic<int>> times(static_cast<std::size_t>(n));
        parallel_for(rt, -5, static_cast<int>(n) - 5,
                     [&](int i) { times[static_cast<std::size_t>(i + 5)].fetch_add(1); });
        parallel_for(rt, std::int64_t{7}, n + 7, [&](std::int64_t first, std::int64_t last) {
          for (; first < last; ++first) times[static_cast<std::size_t>(first - 7)].fetch_add(1);
        });
        for (auto& t : times) ASSERT_EQ(t.load(), 2) << p << ", " << workers << " workers, n " << n;
      }
    }
}

TEST(parallel_for, an_empty_range_calls_nothing) {
  runtime rt(with_policy("dam-c", 2));
  bool called = false;
  parallel_for(rt, 5, 5, [&](int) { called = true; });
  parallel_for(rt, 5, -5, [&](int, int) { called = true; });
  EXPECT_EQ(parallel_reduce(
                rt, 3u, 2u, 17, [](unsigned) { return 1; }, std::plus<>{}),
            17);
  EXPECT_FALSE(called);
}

TEST(parallel_for, goes_over_each_element_once_whatever_the_range) {
  for (const std::uint32_t workers : {1u, 3u}) {
    runtime rt(with_policy("auto", workers));
    std::vector<int> v(10'000, 1);
    parallel_for(rt, v, [](int& x) { ++x; });
    EXPECT_EQ(std::ranges::count(v, 2), 10'000) << workers;
    parallel_for(rt, std::span(v).subspan(7, 100), [](int& x) { ++x; });
    EXPECT_EQ(std::ranges::count(v, 3), 100);
    EXPECT_EQ(v[6] + v[7] + v[106] + v[107], 2 + 3 + 3 + 2);
    using iterator = std::vector<int>::iterator;
    parallel_for(rt, v, [](iterator first, iterator last) {
      ASSERT_LT(first, last);
      std::fill(first, last, 5);
    });
    EXPECT_EQ(std::ranges::count(v, 5), 10'000);
    std::atomic<std::size_t> sum{0};
    const std::array<std::size_t, 4> fixed{1, 2, 3, 4};
    parallel_for(rt, fixed, [&](const std::size_t& x) { sum += x; });
    parallel_for(rt, std::views::iota(std::size_t{1}, std::size_t{101}),
                 [&](std::size_t x) { sum += x; });
    EXPECT_EQ(sum.load(), 10u + 5050u);
    v.clear();
    parallel_for(rt, v, [](int&) { FAIL() << "there is no element"; });
    rt.run([&](task_context& here) {
      std::vector<char> inner(100, 'a');
      parallel_for(here, inner, [](char& c) { c = 'b'; }, {.grain = 7});
      EXPECT_EQ(std::ranges::count(inner, 'b'), 100);
    });
  }
}

TEST(parallel_for, a_requested_stop_leaves_out_the_pieces_that_have_not_begun) {
  for (const std::uint32_t workers : {1u, 3u}) {
    runtime rt(with_policy("auto", workers));
    for (const bool inside : {false, true}) {
      std::stop_source stop;
      std::atomic<int> ran{0};
      const auto body = [&](int) {
        stop.request_stop();
        ran.fetch_add(1);
      };
      const loop_options options{.grain = 1, .stop = stop.get_token()};
      const auto loop = [&] {
        if (inside)
          rt.run([&](task_context& here) { parallel_for(here, 0, 100'000, body, options); });
        else
          parallel_for(rt, 0, 100'000, body, options);
      };
      EXPECT_THROW(loop(), cancelled_error);
      const int so_far = ran.load();
      EXPECT_GE(so_far, 1);
      EXPECT_LT(so_far, 100'000);
      EXPECT_THROW(loop(), cancelled_error) << "it is still requested";
      EXPECT_EQ(ran.load(), so_far);
    }
    std::stop_source late;
    parallel_for(rt, 0, 1, [&](int) { late.request_stop(); }, {.stop = late.get_token()});
    EXPECT_EQ(parallel_reduce(
                  rt, 0, 10, 0, [](int) { return 1; }, std::plus<>{}),
              10)
        << "the runtime goes on";
  }
}

TEST(parallel_for, counts_that_no_32_bit_number_holds) {
  runtime rt(with_policy("dam-c", 3));
  std::atomic<std::uint64_t> done{0};
  parallel_for(rt, std::uint64_t{0}, std::uint64_t{1} << 40,
               [&](std::uint64_t first, std::uint64_t last) { done += last - first; });
  EXPECT_EQ(done.load(), std::uint64_t{1} << 40);
  done = 0;
  using limits = std::numeric_limits<std::int64_t>;
  parallel_for(rt, limits::min(), limits::max(), [&](std::int64_t first, std::int64_t last) {
    ASSERT_LT(first, last);
    done += static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first);
  });
  EXPECT_EQ(done.load(), std::numeric_limits<std::uint64_t>::max());
  done = 0;
  parallel_for(rt, std::uint64_t{0}, std::uint64_t{1} << 40,
               [&](std::uint64_t first, std::uint64_t last) { done += last - first; },
               {.grain = 3});
  EXPECT_EQ(done.load(), std::uint64_t{1} << 40) << "more grains than pieces can be counted";
}

TEST(parallel_for, no_piece_is_smaller_than_the_grain) {
  runtime rt(with_policy("dam-c", 4));
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::mutex lock;
    std::vector<std::pair<std::size_t, std::size_t>> pieces;
    parallel_for(rt, std::size_t{0}, std::size_t{10'050},
                 [&](std::size_t first, std::size_t last) {
                   const std::lock_guard hold(lock);
                   pieces.emplace_back(first, last);
                 },
                 {.grain = 100});
    for (const auto& [first, last] : pieces) {
      EXPECT_EQ(first % 100, 0u);
      EXPECT_TRUE(last % 100 == 0 || last == 10'050);
    }
  }
}

TEST(parallel_for, several_workers_take_part_each_time) {
  runtime rt(with_policy("rws", 3));
  graph g;
  g.add([&](task_context& here) {
    for (int time = 0; time < 4; ++time) {
      std::mutex lock;
      std::set<std::thread::id> threads;
      parallel_for(here, 0, 3, [&](int) {
        {
          const std::lock_guard hold(lock);
          threads.insert(std::this_thread::get_id());
        }
        // One that finds this slow loop late must still find something to do.
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
      });
      EXPECT_GT(threads.size(), 1u) << "loop " << time << " of long iterations ran on one worker";
    }
  });
  rt.run(g);
}

TEST(parallel_for, a_worker_that_is_busy_elsewhere_holds_nobody_up) {
  runtime rt(with_policy("rws", 2));
  std::atomic<bool> free{false}, running{false};
  graph g;
  g.add([&] {
    running = true;
    while (!free.load()) std::this_thread::yield();
  });
  execution busy = rt.submit(g);
  while (!running.load()) std::this_thread::yield();
  std::atomic<int> done{0};
  parallel_for(rt, 0, 10'000, [&](int) { done.fetch_add(1); });
  EXPECT_EQ(done.load(), 10'000);
  EXPECT_FALSE(busy.done());
  free = true;
  busy.wait();
}

TEST(parallel_for, the_first_exception_comes_out_and_the_runtime_goes_on) {
  runtime rt(with_policy("dam-c", 3));
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::atomic<int> begun{0};
    try {
      parallel_for(rt, 0, 100'000'000,
                   [&](int i) {
                     begun.fetch_add(1, std::memory_order_relaxed);
                     if (i == 1000) throw std::runtime_error("1000");
                   },
                   {.grain = 100});
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "1000");
    }
    EXPECT_LT(begun.load(), 100'000'000)
        << "iterations that had not begun went on after the exception";
  }
  std::atomic<int> done{0};
  parallel_for(rt, 0, 100, [&](int) { done.fetch_add(1); });
  EXPECT_EQ(done.load(), 100);
}

TEST(parallel_for, nests_in_itself_and_in_tasks) {
  for (const std::uint32_t workers : {1u, 3u}) {
    runtime rt(with_policy("dam-c", workers));
    std::atomic<int> done{0};
    parallel_for(rt, 0, 20, [&](int) { parallel_for(rt, 0, 50, [&](int) { done.fetch_add(1); }); });
    EXPECT_EQ(done.load(), 1000);
    graph g;
    for (int t = 0; t < 20; ++t)
      g.add(
          [&](task_context& here) { parallel_for(here, 0, 100, [&](int) { done.fetch_add(1); }); });
    rt.run(g);
    EXPECT_EQ(done.load(), 3000);
  }
}

TEST(parallel_for, an_iteration_may_wait_for_a_graph_whose_tasks_are_bound_to_any_worker) {
  runtime rt(scripted_on(3));
  std::atomic<int> done{0};
  parallel_for(rt, 0, 30, [&](int i) {
    graph inner;
    for (core_id c = 0; c < 3; ++c)
      inner.add({.work = at(rt, (static_cast<core_id>(i) + c) % 3, 1)}, [&] { done.fetch_add(1); });
    rt.run(inner);
  });
  EXPECT_EQ(done.load(), 90);
}

TEST(parallel_for, from_several_threads_and_from_a_task_of_another_runtime) {
  runtime rt(with_policy("dam-c", 2)), other(with_policy("rws", 2));
  std::atomic<int> done{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 25; ++i) parallel_for(rt, 0, 100, [&](int) { done.fetch_add(1); });
    });
  graph g;
  g.add([&] { parallel_for(rt, 0, 1000, [&](int) { done.fetch_add(1); }); });
  other.run(g);
  for (auto& t : threads) t.join();
  EXPECT_EQ(done.load(), 11'000);
}

TEST(parallel_for, a_member_of_a_team_is_told_that_it_must_not) {
  runtime rt(with_policy("rws", 2));
  graph g;
  g.add({.widths = 2, .all_members = true}, [&](team_member& here) {
    EXPECT_THROW(parallel_for(rt, 0, 10, [](int) {}), usage_error);
    here.barrier();
  });
  rt.run(g);
}

TEST(parallel_task, starts_after_what_comes_before_and_ends_before_what_comes_after_in_every_run) {
  for (const char* p : both) {
    runtime rt(with_policy(p, 3));
    std::vector<int> values(5000);
    long sum = 0;
    graph g;
    const task fill = g.add([&] { std::iota(values.begin(), values.end(), 0); });
    const task twice = add_parallel_for(g, {.name = "twice"}, std::size_t{0}, values.size(),
                                        [&](std::size_t i) { values[i] *= 2; });
    const task half = add_parallel_for(g, {}, std::size_t{0}, values.size(),
                                       [&](std::size_t first, std::size_t last) {
                                         for (; first < last; ++first)
                                           values[first] -= static_cast<int>(first);
                                       },
                                       {.type = "half", .grain = 64});
    const task add = g.add([&] { sum = std::accumulate(values.begin(), values.end(), 0L); });
    g.edge(fill, twice);
    g.edge(twice, half);
    g.edge(half, add);
    for (int run = 0; run < 5; ++run) {
      const execution_stats s = rt.run(g);
      EXPECT_EQ(sum, 5000L * 4999 / 2) << p;
      EXPECT_EQ(s.tasks, 4u);
    }
    bool learned = false;
    for (const auto& cell : rt.table())
      learned |= cell.type == "loop:half" && cell.seconds > 0.0 && cell.seconds < 1e-3;
    EXPECT_TRUE(learned) << "seconds an iteration, under the name that was given";
  }
}

TEST(parallel_task, a_cancelled_graph_leaves_out_the_pieces_that_have_not_begun) {
  runtime rt(with_policy("dam-c", 2));
  graph g;
  std::atomic<bool> begun{false};
  std::atomic<int> done{0};
  add_parallel_for(g, {}, 0, 1'000'000, [&](int) {
    begun = true;
    done.fetch_add(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  execution e = rt.submit(g);
  while (!begun.load()) std::this_thread::yield();
  e.cancel();
  EXPECT_THROW(e.wait(), cancelled_error);
  EXPECT_LT(done.load(), 1'000'000);
}

TEST(parallel_for, stopping_the_runtime_ends_it_with_cancelled_error) {
  runtime rt(with_policy("dam-c", 2));
  std::atomic<bool> begun{false};
  std::thread stopper([&] {
    while (!begun.load()) std::this_thread::yield();
    rt.stop();
  });
  EXPECT_THROW(parallel_for(rt, 0, 1'000'000,
                            [&](int) {
                              begun = true;
                              std::this_thread::sleep_for(std::chrono::milliseconds(1));
                            }),
               cancelled_error);
  stopper.join();
  EXPECT_THROW(parallel_for(rt, 0, 10, [](int) {}), usage_error);
  rt.start();
  std::atomic<int> done{0};
  parallel_for(rt, 0, 10, [&](int) { done.fetch_add(1); });
  EXPECT_EQ(done.load(), 10);
}

TEST(parallel_reduce, gives_the_same_bits_whatever_the_number_of_workers) {
  std::vector<double> sums;
  std::vector<std::string> texts;
  for (const std::uint32_t workers : {1u, 2u, 5u})
    for (int repeat = 0; repeat < 3; ++repeat) {
      runtime rt(with_policy("dam-c", workers));
      sums.push_back(parallel_reduce(
          rt, 1, 300'000, 0.0, [](int i) { return 1.0 / i; }, std::plus<>{}));
      // Not commutative: order shows.
      texts.push_back(parallel_reduce(rt, 0, 5000, std::string{},
                                      [](int first, int last, std::string s) {
                                        for (; first < last; ++first)
                                          s += static_cast<char>('a' + first % 26);
                                        return s;
                                      },
                                      std::plus<>{}, {.grain = 7}));
    }
  std::string expected;
  for (int i = 0; i < 5000; ++i) expected += static_cast<char>('a' + i % 26);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    EXPECT_EQ(sums[i], sums[0]);
    EXPECT_EQ(texts[i], expected);
  }
  EXPECT_NEAR(sums[0], 13.1887, 1e-3);
}

// ---- bounds and values of different types ----

TEST(parallel_reduce, over_elements_gives_the_bits_that_it_gives_over_their_numbers) {
  std::vector<double> v(100'003);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = 1.0 / static_cast<double>(i + 1);
  runtime rt(with_policy("auto", 3));
  const double by_number = parallel_reduce(
      rt, std::size_t{0}, v.size(), 0.0, [&](std::size_t i) { return v[i]; }, std::plus<>{});
  const double by_element = parallel_reduce(
      rt, v, 0.0, [](double x) { return x; }, std::plus<>{});
  using iterator = std::span<const double>::iterator;
  const double by_piece = parallel_reduce(
      rt, std::span<const double>(v), 0.0,
      [](iterator first, iterator last, double sum) { return std::accumulate(first, last, sum); },
      std::plus<>{});
  EXPECT_EQ(by_element, by_number);
  EXPECT_EQ(by_piece, by_number);
  rt.run([&](task_context& here) {
    EXPECT_EQ(parallel_reduce(
                  here, v, 0.0, [](double x) { return x; }, std::plus<>{}),
              by_number);
  });
  v.clear();
  EXPECT_EQ(parallel_reduce(
                rt, v, 17.0, [](double x) { return x; }, std::plus<>{}),
            17.0);
}

TEST(parallel_task, goes_over_the_elements_that_are_there_when_it_runs) {
  runtime rt(with_policy("auto", 2));
  std::vector<int> v(10, 0);
  std::array<int, 3> fixed{};
  graph g;
  add_parallel_for(g, {.name = "grows"}, v, [](int& x) { ++x; });
  add_parallel_for(g, std::span(fixed), [](int& x) { ++x; });
  rt.run(g);
  v.resize(1000, 0);
  rt.run(g);
  EXPECT_EQ(std::ranges::count(v, 2), 10);
  EXPECT_EQ(std::ranges::count(v, 1), 990);
  EXPECT_EQ(fixed, (std::array{2, 2, 2}));
}

TEST(loop_types, a_bound_of_another_type_is_not_cut) {
  runtime rt(with_policy("auto", 2));
  const std::vector<int> v(1000, 1);
  std::atomic<std::uint64_t> sum{0};
  parallel_for(rt, 0, v.size(),
               [&](std::size_t i) { sum.fetch_add(static_cast<std::uint64_t>(v[i])); });
  EXPECT_EQ(sum.load(), 1000u);
  static_assert(std::is_same_v<loop_index<int, std::size_t>, std::size_t>);
  std::atomic<std::uint64_t> iterations{0};
  const std::uint64_t many = 5'000'000'000;
  parallel_for(rt, 0, many, [&](std::uint64_t first, std::uint64_t last) {
    iterations.fetch_add(last - first);
  });
  EXPECT_EQ(iterations.load(), many);
  const auto total = parallel_reduce(
      rt, 0, many, std::uint64_t{0},
      [](std::uint64_t first, std::uint64_t last, std::uint64_t before) {
        return before + (last - first);
      },
      std::plus<>{});
  EXPECT_EQ(total, many);
}

TEST(loop_types, bounds_without_a_common_type_are_refused_unless_the_loop_is_empty) {
  runtime rt(with_policy("auto", 2));
  int ran = 0;
  parallel_for(rt, 0u, -1, [&](auto) { ++ran; });
  EXPECT_EQ(ran, 0);
  EXPECT_THROW(parallel_for(rt, -1, 3u, [&](auto) { ++ran; }), usage_error);
  EXPECT_EQ(ran, 0);
  std::atomic<int> iterations{0};
  parallel_for(rt, -2, 3L, [&](long i) { iterations.fetch_add(static_cast<int>(i) + 10); });
  EXPECT_EQ(iterations.load(), 8 + 9 + 10 + 11 + 12);
}

static_assert(loop_range<std::vector<int>&> && loop_range<std::span<const double>> &&
              !loop_range<std::set<int>&> && !loop_range<int>);
static_assert(element_body<void (*)(int&), std::vector<int>&> &&
              !element_body<void (*)(int&), const std::vector<int>&>);

template <class T, class V>
concept sums_up = !detail::narrows<V, T>;
static_assert(!sums_up<int, double> && !sums_up<float, double> && !sums_up<int, std::int64_t>);
static_assert(sums_up<double, int> && sums_up<int, short> && sums_up<short, short> &&
              sums_up<std::string, int>);

}  // namespace
}  // namespace kilter
