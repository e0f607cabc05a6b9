// A worker that is held up gets the core of one that has nothing to do (docs/inside/lending.md).

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "kilter/parallel.hpp"
#include "kilter/runtime.hpp"
#include "runtime/pinning.hpp"
#include "stress/watchdog.hpp"

namespace kilter {
namespace {

constexpr std::chrono::seconds long_enough{
    20};  // a look every 16 ms, slices of 3 ms: it takes some tens of milliseconds

std::shared_ptr<const machine> two_cores() {
  const machine here = machine::local();
  return here.core_count() < 2
             ? nullptr
             : std::make_shared<const machine>(here.restricted_to(std::array<core_id, 2>{0, 1}));
}

runtime_options on(std::shared_ptr<const machine> m, const char* policy) {
  runtime_options o;
  o.machine = std::move(m);
  o.policy = policy;
  return o;
}

/// Whether the calling thread, while somebody else wants its CPU, comes to another one.
bool comes_to_another_cpu(std::chrono::nanoseconds within) {
  const int before = sched_getcpu();
  std::atomic<bool> stop{false};
  std::thread neighbour([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<unsigned>(before), &one);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
    while (!stop.load(std::memory_order_relaxed)) {
    }
  });
  const auto end = std::chrono::steady_clock::now() + within;
  while (sched_getcpu() == before && std::chrono::steady_clock::now() < end) {
  }
  const bool moved = sched_getcpu() != before;
  stop.store(true);
  neighbour.join();
  return moved;
}

bool knows(const runtime& rt, std::string_view type) {
  for (const auto& cell : rt.table())
    if (cell.type == type) return true;
  return false;
}

TEST(lending, a_task_that_is_held_up_goes_to_an_idle_core_and_its_worker_home) {
  const auto m = two_cores();
  if (!m) GTEST_SKIP() << "needs two CPUs";
  for (const char* policy : {"auto", "rws", "dam-c"}) {
    runtime rt(on(m, policy));
    bool moved = false, is_home = false;
    graph g;
    const task_type held_up = g.type("held up");
    const task before = g.add({.type = held_up}, [] {
      comes_to_another_cpu(std::chrono::milliseconds(5));
    });  // known to be long
    const task one =
        g.add({.type = g.type("moved")}, [&] { moved = comes_to_another_cpu(long_enough); });
    g.edge(before, one);
    // Several: one that is itself held up by another program may be moved, too.
    task last = one;
    for (int i = 0; i < 20; ++i) {
      const task after = g.add({.type = g.type("after")}, [&](task_context& here) {
        is_home = is_home || sched_getcpu() == m->cores()[here.core()].os_index;
      });
      g.edge(last, after);
      last = after;
    }
    rt.run(g);
    EXPECT_TRUE(moved) << policy;
    EXPECT_TRUE(is_home) << policy;
    EXPECT_EQ(knows(rt, "moved"), policy != std::string_view("rws"))
        << policy << ": a place that stays unknown draws all tasks";
  }
}

TEST(lending, a_guest_that_is_held_up_there_goes_home) {
  const auto m = two_cores();
  if (!m) GTEST_SKIP() << "needs two CPUs";
  runtime rt(on(m, "rws"));
  bool there = false, back = false;
  graph g;
  const task before = g.add([] { comes_to_another_cpu(std::chrono::milliseconds(5)); });
  g.edge(before, g.add([&] {
    there = comes_to_another_cpu(long_enough);
    back = comes_to_another_cpu(long_enough);
  }));
  rt.run(g);
  EXPECT_TRUE(there);
  EXPECT_TRUE(back);
}

TEST(lending, so_does_a_member_of_a_wide_task) {
  const auto m = two_cores();
  if (!m) GTEST_SKIP() << "needs two CPUs";
  runtime rt(on(m, "dam-c"));
  std::atomic<bool> moved{false};
  graph g;
  g.add({.type = g.type("wide"), .widths = {2}}, [&](team_member& here) {
    while (const chunk c = here.next_chunk(2, 1))
      if (c.begin == 0) moved = comes_to_another_cpu(long_enough);
  });
  rt.run(g);
  EXPECT_TRUE(moved.load());
  EXPECT_TRUE(knows(rt, "wide"));
}

TEST(lending, so_does_the_last_piece_of_a_loop) {
  const auto m = two_cores();
  if (!m) GTEST_SKIP() << "needs two CPUs";
  runtime rt(on(m, "rws"));
  std::atomic<bool> moved{false};
  std::atomic<int> both{0};
  parallel_for(rt, 0, 2,
               [&](int i) {
                 ++both;
                 stress::wait_until([&] { return both.load() == 2; });
                 if (i == 1) moved = comes_to_another_cpu(long_enough);
               },
               {.type = "held up", .grain = 1});
  EXPECT_TRUE(moved.load());
}

TEST(lending, a_thread_that_waits_for_something_else_wants_no_cpu) {
  std::atomic<pid_t> sleeper{0};
  std::atomic<bool> stop{false};
  std::thread sleeps([&] {
    sleeper = detail::thread_number();
    stop.wait(false);
  });
  stress::wait_until([&] { return sleeper.load() != 0 && !detail::wants_cpu(sleeper.load()); });
  EXPECT_TRUE(detail::wants_cpu(detail::thread_number()));
  EXPECT_GT(detail::cpu_nanoseconds_of(detail::thread_number()), 0);
  EXPECT_GE(detail::cpu_nanoseconds_of(sleeper.load()), 0);
  stop = true;
  stop.notify_all();
  sleeps.join();
  // One that is gone, which it is not yet when it was joined.
  stress::wait_until([&] {
    return !detail::wants_cpu(sleeper.load()) && detail::cpu_nanoseconds_of(sleeper.load()) < 0;
  });
}

}  // namespace
}  // namespace kilter
