// Waits within waits: however many there are, the stack holds; and whoever stops helping leaves
// nothing behind that others wait for.

#include <gtest/gtest.h>

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "runtime/engine.hpp"
#include "stress/watchdog.hpp"
#include "unit/runtime/scripted.hpp"

namespace kilter {
namespace {

using stress::sanitized;

const char* const helping_families[] = {"auto", "fifo",    "rws",   "dam-c",
                                        "cats", "cats-2q", "dheft", "heft"};
// A million of each is for the full size; what one stack holds is a few ten thousand.
const int many = stress::full_size() ? 1'000'000 : sanitized ? 10'000 : 100'000;

/// How many bodies are inside one another on a thread.
class nesting {
 public:
  explicit nesting(std::atomic<std::uint32_t>& most) {
    ++inside;
    for (std::uint32_t m = most.load(); m < inside && !most.compare_exchange_weak(m, inside);) {
    }
  }
  ~nesting() { --inside; }
  nesting(const nesting&) = delete;
  nesting& operator=(const nesting&) = delete;

 private:
  static inline thread_local std::uint32_t inside = 0;
};

class helping : public testing::TestWithParam<std::tuple<const char*, std::uint32_t>> {
 protected:
  runtime_options options() const {
    runtime_options o = with_policy(std::get<0>(GetParam()), std::get<1>(GetParam()));
    o.policy_settings.cats_tries = 1;  // or every task costs 300 looks
    return o;
  }
  /// A deep wait begins no stranger's task but one that was in hand. Where another worker has what
  /// is waited for, there is no other way to go on.
  static void expect_strangers_wait_elsewhere(const runtime& rt, std::uint32_t most) {
    if (rt.workers() == 1) {
      EXPECT_LE(most, 65u);
    }
  }
};

TEST_P(helping, as_many_tasks_as_there_are_may_wait_for_two_children_each) {
  runtime rt(options());
  graph g;
  std::atomic<int> ran{0};
  std::atomic<std::uint32_t> most{0};
  for (int i = 0; i < many; ++i)
    g.add({.widths = 1}, [&](task_context& c) {
      const nesting one(most);
      batch children(c);
      children.add({.widths = 1}, [&] { ran.fetch_add(1, std::memory_order_relaxed); });
      children.add({.widths = 1}, [&] { ran.fetch_add(1, std::memory_order_relaxed); });
      children.wait();
    });
  rt.run(g);
  EXPECT_EQ(ran.load(), 2 * many);
  expect_strangers_wait_elsewhere(rt, most);
}

TEST_P(helping, as_many_tasks_as_there_are_may_run_a_graph_each) {
  runtime rt(options());
  graph g;
  const int runs = many / 10;
  std::atomic<int> ran{0};
  std::atomic<std::uint32_t> most{0};
  for (int i = 0; i < runs; ++i)
    g.add([&] {
      const nesting one(most);
      graph inner;
      const task first = inner.add([&] { ran.fetch_add(1, std::memory_order_relaxed); });
      inner.edge(first, inner.add([&] { ran.fetch_add(1, std::memory_order_relaxed); }));
      rt.run(inner);
    });
  rt.run(g);
  EXPECT_EQ(ran.load(), 2 * runs);
  expect_strangers_wait_elsewhere(rt, most);
}

// Each level is a wait on top of another: no order of tasks could keep the stack short.
TEST_P(helping, a_chain_of_tasks_that_each_wait_for_the_next_may_be_longer_than_the_stack) {
  runtime rt(options());
  // two workers hand each level over to one another
  const int levels = sanitized ? many / (rt.workers() > 1 ? 50 : 5) : many;
  int depth = 0;
  std::function<void(task_context&, int)> descend = [&](task_context& c, int left) {
    ++depth;
    if (left == 0) return;
    batch next(c);
    next.add({.widths = 1}, [&descend, left](task_context& inner) { descend(inner, left - 1); });
    next.wait();
  };
  for (int round = 0; round < 2; ++round) {
    depth = 0;
    graph g;
    g.add({.widths = 1}, [&](task_context& c) { descend(c, levels); });
    rt.run(g);
    EXPECT_EQ(depth, levels + 1);
  }
}

// What ends this wait is not what the waiting tasks made ready.
TEST_P(helping, all_may_wait_for_somebody_elses_graph) {
  runtime rt(options());
  const int waiters = many / 10;
  std::atomic<int> ran{0}, waited{0};
  graph late, g;
  task before;
  for (int i = 0; i < waiters; ++i) {
    const task now = late.add([&] { ran.fetch_add(1, std::memory_order_relaxed); });
    if (i > 0) late.edge(before, now);
    before = now;
  }
  execution awaited;
  const task first = g.add({.widths = 1}, [&] { awaited = rt.submit(late); });
  for (int i = 0; i < waiters; ++i)
    g.edge(first, g.add({.widths = 1}, [&] {
      execution(awaited).wait();
      waited.fetch_add(1, std::memory_order_relaxed);
    }));
  rt.run(g);
  EXPECT_EQ(ran.load(), waiters);
  EXPECT_EQ(waited.load(), waiters);
}

INSTANTIATE_TEST_SUITE_P(every_family, helping,
                         testing::Combine(testing::ValuesIn(helping_families),
                                          testing::Values(1u, 2u)),
                         [](const auto& p) {
                           std::string name = std::get<0>(p.param);
                           std::ranges::replace(name, '-', '_');
                           return name + "_on_" + std::to_string(std::get<1>(p.param));
                         });

// Answers with one shared queue, declines each task once, and counts what it is asked.
class counting final : public policy {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "counting"; }
  [[nodiscard]] discipline queues(const machine&) const override {
    discipline d;
    d.queues = {{no_core, queue_order::fifo, {}}};
    d.asks_ready_low = d.asks_ready_high = d.asks_take_low = d.asks_take_high = d.asks_done = true;
    return d;
  }
  [[nodiscard]] ready_decision on_ready(task_ref t, task_ref, core_id, view& v) const override {
    if (v.state(t).a == 0) ready.fetch_add(1);
    return ready_decision::wait_in(0);
  }
  [[nodiscard]] take_decision on_take(task_ref t, core_id here, bool, view& v) const override {
    if (v.state(t).a == 0) {
      v.set_state(t, {1, 0});
      declined.fetch_add(1);
      return {.put_back = true};
    }
    taken.fetch_add(1);
    return {.where = v.machine().single(here), .busy_s = 1.0};
  }
  void on_done(task_ref, place_id, const measured&, view&) const override { done.fetch_add(1); }
  mutable std::atomic<std::uint64_t> ready{0}, declined{0}, taken{0}, done{0};
};

TEST(nested_waits, the_policy_hears_of_every_task_and_its_estimates_come_out_even) {
  for (const std::uint32_t workers : {1u, 2u}) {
    auto p = std::make_shared<const counting>();
    runtime_options o;
    o.machine = cores(workers);
    o.custom = p;
    runtime rt(o);
    graph g;
    constexpr int roots = 2000;
    for (int i = 0; i < roots; ++i)
      g.add({.widths = 1}, [&](task_context& c) {
        batch children(c);
        for (int k = 0; k < 2; ++k) children.add({.widths = 1}, [] {});
        children.wait();
      });
    EXPECT_EQ(rt.run(g).tasks, 3u * roots);
    EXPECT_EQ(p->ready.load(), 3u * roots);
    EXPECT_EQ(p->declined.load(), 3u * roots) << "a task that is declined comes back";
    EXPECT_EQ(p->taken.load(), 3u * roots);
    EXPECT_EQ(p->done.load(), 3u * roots);
    for (const auto& w : detail::runtime_access::of(rt).workers)
      EXPECT_EQ(w->load().seconds(), 0.0);
  }
}

TEST(nested_waits, tasks_that_need_more_than_one_core_find_their_members_from_within) {
  runtime rt(with_policy("dam-c", 2));
  constexpr std::array<std::uint32_t, 1> two{2};
  std::atomic<int> met{0};
  std::function<void(task_context&, int)> descend = [&](task_context& c, int left) {
    if (left == 0) return;
    batch next(c);
    next.add({.widths = two, .all_members = true}, [&](team_member& member) {
      member.barrier();
      met.fetch_add(1);
    });
    next.add({.widths = 1}, [&descend, left](task_context& inner) { descend(inner, left - 1); });
    next.wait();
  };
  graph g;
  g.add({.widths = 1}, [&](task_context& c) { descend(c, 200); });
  rt.run(g);
  EXPECT_EQ(met.load(), 400);
}

TEST(nested_waits, what_nobody_waits_for_runs_when_they_are_over) {
  runtime rt(with_policy("rws", 1));
  int ran = 0;
  std::function<void(task_context&, int)> descend = [&](task_context& c, int left) {
    batch later(c), next(c);
    later.add([&ran] { ++ran; });
    later.detach();
    if (left == 0) return;
    next.add({.widths = 1}, [&descend, left](task_context& inner) { descend(inner, left - 1); });
    next.wait();
  };
  graph g;
  g.add({.widths = 1}, [&](task_context& c) { descend(c, 200); });
  rt.run(g);
  EXPECT_EQ(ran, 201);
}

TEST(nested_waits, an_exception_comes_out_of_many_segments) {
  runtime rt(with_policy("rws", 1));
  std::function<void(task_context&, int)> descend = [&](task_context& c, int left) {
    if (left == 0) throw std::runtime_error("at the bottom");
    batch next(c);
    next.add({.widths = 1}, [&descend, left](task_context& inner) { descend(inner, left - 1); });
    next.wait();
  };
  graph g;
  g.add({.widths = 1}, [&](task_context& c) { descend(c, many); });
  try {
    rt.run(g);
    FAIL() << "nothing came out";
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "at the bottom");
  }
}

// What an address space this small leaves to small allocations does not hold another stack.
void run_without_memory_for_stacks() {
  runtime rt(with_policy("rws", 1));
  std::function<void(task_context&, int)> descend = [&](task_context& c, int left) {
    if (left == 0) return;
    batch next(c);
    next.add({.widths = 1}, [&descend, left](task_context& inner) { descend(inner, left - 1); });
    next.wait();
  };
  const auto run = [&](int depth) {
    graph g;
    g.add({.widths = 1}, [&, depth](task_context& c) { descend(c, depth); });
    rt.run(g);
  };
  run(5'000);
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t now = pages * 4096, more = rlim_t{6} << 20;
  const rlimit limit{now + more, now + more};
  if (setrlimit(RLIMIT_AS, &limit) != 0) std::_Exit(3);
  try {
    run(1'000'000);
    std::_Exit(4);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
  }
  run(100);
  std::_Exit(0);
}

TEST(nested_waits, without_memory_for_another_stack_end_in_an_error) {
  if (sanitized) GTEST_SKIP() << "a sanitizer reserves terabytes of address space";
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(run_without_memory_for_stacks(), testing::ExitedWithCode(0),
              "no memory for another stack: [0-9]+ waits are nested on the worker of core 0; ");
}

}  // namespace
}  // namespace kilter
