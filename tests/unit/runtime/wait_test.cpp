// Waiting inside tasks, tasks that add tasks, and the lifetime of what they hold.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "kilter/parallel.hpp"
#include "stress/watchdog.hpp"
#include "unit/runtime/scripted.hpp"

namespace kilter {
namespace {

using stress::sanitized;

const char* const rws_and_dam[] = {"rws", "dam-c"};

void fib(task_context& c, int n, std::uint64_t& out) {
  if (n < 2) {
    out = static_cast<std::uint64_t>(n);
    return;
  }
  std::uint64_t a = 0, b = 0;
  batch children(c);
  children.add([&a, n](task_context& inner) { fib(inner, n - 1, a); });
  children.release();
  children.add([&b, n](task_context& inner) { fib(inner, n - 2, b); });
  children.wait();
  out = a + b;
}

TEST(waiting, recursion_helps_instead_of_blocking) {
  for (const char* p : rws_and_dam)
    for (const std::uint32_t workers : {1u, 2u, 4u}) {
      runtime rt(with_policy(p, workers));
      std::uint64_t result = 0;
      graph g;
      g.add([&](task_context& c) { fib(c, sanitized ? 14 : 20, result); });
      rt.run(g);
      EXPECT_EQ(result, sanitized ? 377u : 6765u) << p << " with " << workers;
    }
}

TEST(waiting, a_task_can_run_another_graph_on_the_only_worker_and_deeply_so) {
  for (const char* p : rws_and_dam) {
    runtime rt(with_policy(p, 1));
    std::atomic<int> depth{0};
    std::function<void(int)> nest = [&](int left) {
      depth.fetch_add(1);
      if (left == 0) return;
      graph inner;
      inner.add([&] { nest(left - 1); });
      rt.run(inner);
    };
    nest(150);
    EXPECT_EQ(depth.load(), 151);
  }
}

TEST(waiting, several_waiters_of_one_execution_all_return) {
  runtime rt(with_policy("dam-c", 2));
  for (int round = 0; round < 50; ++round) {
    graph g;
    std::atomic<bool> go{false};
    g.add([&] { stress::wait_until([&] { return go.load(); }); });
    execution e = rt.submit(g);
    std::vector<std::thread> waiters;
    for (int i = 0; i < 3; ++i) waiters.emplace_back([e]() mutable { e.wait(); });
    go.store(true);
    e.wait();
    for (auto& w : waiters) w.join();
  }
}

TEST(waiting, the_graph_may_be_destroyed_right_after_it) {
  for (const char* p : rws_and_dam) {
    runtime rt(with_policy(p, 4));
    for (int i = 0; i < (sanitized ? 300 : 2000); ++i) {
      auto g = std::make_unique<graph>();
      task before;
      for (int t = 0; t < 8; ++t) {
        const task now = g->add({.priority = t % 2 ? priority::high : priority::low},
                                [](team_member& c) { (void)c.next_chunk(3); });
        if (t % 3) g->edge(before, now);
        before = now;
      }
      rt.run(*g);
      g.reset();
    }
  }
}

TEST(waiting, an_exception_passes_through_a_task_that_waits) {
  runtime rt(with_policy("rws", 1));
  graph outer;
  outer.add([&] {
    graph inner;
    inner.add([] { throw std::runtime_error("inner"); });
    rt.run(inner);
  });
  try {
    rt.run(outer);
    FAIL() << "nothing came out";
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "inner");
  }
}

/// Counts how many are alive.
struct counted {
  explicit counted(std::atomic<int>& n) : alive(&n) { alive->fetch_add(1); }
  counted(const counted& o) : alive(o.alive) { alive->fetch_add(1); }
  counted(counted&& o) noexcept : alive(o.alive) { alive->fetch_add(1); }
  counted& operator=(const counted&) = delete;
  ~counted() { alive->fetch_sub(1); }
  std::atomic<int>* alive;
};

TEST(batches, closures_of_added_tasks_are_destroyed_exactly_once) {
  std::atomic<int> alive{0}, ran{0}, misaligned{0};
  runtime rt(with_policy("dam-c", 2));
  for (const bool cancelled : {false, true}) {
    graph g;
    g.add([&, cancelled](task_context& c) {
      batch b(c);
      for (int i = 0; i < 100; ++i) {
        b.add([&, x = counted(alive)] { ran.fetch_add(1); });
        b.add({.work = 2.0, .name = "named"}, [&, x = counted(alive)] { ran.fetch_add(1); });
        b.add(
            [&, x = counted(alive), big = std::array<char, 300>{}] { ran.fetch_add(1 + big[7]); });
        b.add([&, x = std::make_unique<counted>(alive)] { ran.fetch_add(1); });
        struct alignas(128) aligned {
          counted x;
          std::atomic<int>*ran, *misaligned;
          void operator()() const {
            ran->fetch_add(1);
            if (reinterpret_cast<std::uintptr_t>(this) % 128 != 0) misaligned->fetch_add(1);
          }
        };
        b.add(aligned{counted(alive), &ran, &misaligned});
        if (cancelled && i == 50) throw std::runtime_error("half way");
      }
    });
    if (cancelled) {
      EXPECT_THROW(rt.run(g), std::runtime_error);
    } else {
      EXPECT_EQ(rt.run(g).tasks, 501u);
      EXPECT_EQ(ran.load(), 500);
    }
    EXPECT_EQ(alive.load(), 0) << "they go when the task is done, not with the graph";
  }
  EXPECT_EQ(misaligned.load(), 0);
}

TEST(batches, edges_order_added_tasks_and_wrong_ones_are_refused) {
  runtime rt(with_policy("rws", 4));
  graph g;
  std::atomic<int> early{0};
  g.add([&](task_context& c) {
    std::array<std::atomic<int>, 64> done{};
    batch b(c), other(c);
    std::vector<task> tasks;
    for (int i = 0; i < 64; ++i)
      tasks.push_back(b.add([&, i] {
        for (int before = i - 3; before < i; ++before)
          if (before >= 0 && !done[static_cast<std::size_t>(before)].load()) early.fetch_add(1);
        done[static_cast<std::size_t>(i)].store(1);
      }));
    for (int i = 0; i < 64; ++i)
      for (int d = 1; d <= 3 && d <= i; ++d)
        b.edge(tasks[static_cast<std::size_t>(i - d)], tasks[static_cast<std::size_t>(i)],
               d * 1e-9);
    EXPECT_THROW(b.edge(tasks[1], tasks[0]), usage_error);
    EXPECT_THROW(b.edge(tasks[1], tasks[1]), usage_error);
    EXPECT_THROW(b.edge(tasks[0], other.add([] {})), usage_error);
    b.wait();
    const task late = b.add([] {});
    EXPECT_THROW(b.edge(tasks[0], late), usage_error) << "already released";
  });
  rt.run(g);
  EXPECT_EQ(early.load(), 0);
}

TEST(batches, detached_tasks_outlive_the_frame_and_still_belong_to_the_run) {
  for (const char* p : rws_and_dam)
    for (int round = 0; round < 20; ++round) {
      runtime rt(with_policy(p, 2));
      auto count = std::make_shared<std::atomic<int>>(0);
      graph g;
      g.add([&](task_context& c) {
        batch b(c);
        for (int i = 0; i < 50; ++i) b.add([count] { count->fetch_add(1); });
        b.release();
        for (int i = 0; i < 50; ++i) b.add([count] { count->fetch_add(1); });
        b.detach();
        b.add([count] { count->fetch_add(1); });
      });
      EXPECT_EQ(rt.run(g).tasks, 102u);
      EXPECT_EQ(count->load(), 101);
      EXPECT_EQ(count.use_count(), 1);
    }
}

TEST(batches, added_tasks_may_need_all_members) {
  runtime rt(scripted_on(4));
  graph g;
  std::atomic<int> met{0};
  for (core_id c = 0; c < 4; ++c)
    g.add({.work = at(rt, c, 1)}, [&](task_context& context) {
      batch b(context);
      for (int i = 0; i < 25; ++i)
        b.add({.all_members = true, .work = at(rt, i % 2 ? 0 : 2, 2)}, [&](team_member& m) {
          m.barrier();
          met.fetch_add(1);
        });
      for (int i = 0; i < 5; ++i)
        b.add({.all_members = true, .work = at(rt, 0, 4)}, [&](team_member& m) {
          m.barrier();
          met.fetch_add(1);
        });
    });
  rt.run(g);
  EXPECT_EQ(met.load(), 4 * (25 * 2 + 5 * 4));
}

TEST(batches, what_cannot_be_copied_in_is_no_task) {
  struct throws_when_copied {
    throws_when_copied() = default;
    throws_when_copied(const throws_when_copied&) { throw 7; }
    void operator()() const {}
  };
  runtime rt(with_policy("rws", 1));
  graph g;
  g.add([&](task_context& c) {
    const throws_when_copied f;
    batch b(c);
    b.add([] {});
    EXPECT_THROW(b.add({.name = "never"}, f), int);
    b.add([] {});
    EXPECT_THROW(b.add(f), int);
  });
  EXPECT_EQ(rt.run(g).tasks, 3u);
}

TEST(batches, new_types_and_sizes_can_appear_while_the_graph_runs) {
  runtime rt(with_policy("dam-c", 4));
  graph g;
  const task_type known = g.type("known");
  for (int root = 0; root < 4; ++root)
    g.add([&, root](task_context& c) {
      batch b(c);
      for (std::uint32_t i = 0; i < 200; ++i)
        b.add({.type = known,
               .size_class = i % 50 + static_cast<std::uint32_t>(root) * 10,
               .name = i % 3 ? "" : "x"},
              [] {});
    });
  EXPECT_EQ(rt.run(g).tasks, 804u);
  EXPECT_GT(rt.table().size(), 50u);
}

/// A recursive task as it is first written from the headers alone: it must sort, whatever the
/// policy.
void quicksort(task_context& here, int* first, int* last) {
  if (last - first < 64) {
    std::sort(first, last);
    return;
  }
  const int pivot = first[(last - first) / 2];
  int* const low = std::partition(first, last, [=](int x) { return x < pivot; });
  int* const high = std::partition(low, last, [=](int x) { return x == pivot; });
  batch halves(here);
  halves.add([=](task_context& inner) { quicksort(inner, first, low); });
  halves.add([=](task_context& inner) { quicksort(inner, high, last); });
}

TEST(recursion, quicksort_sorts_under_every_policy) {
  for (const policy_info& p : policy_catalogue()) {
    // they plan a graph as a whole: docs/policies.md
    if (p.name == "heft" || p.name == "cpop") continue;
    for (const std::uint32_t workers : {1u, 2u, 4u}) {
      runtime rt(with_policy(std::string(p.name), workers));
      std::mt19937 random(7);
      std::vector<int> values(stress::sanitized ? 5'000 : 50'000);
      for (int& v : values) v = static_cast<int>(random() % 100'000);
      graph g;
      g.add([&](task_context& here) {
        quicksort(here, values.data(), values.data() + values.size());
      });
      rt.run(g);
      EXPECT_TRUE(std::ranges::is_sorted(values)) << p.name << " with " << workers << " workers";
    }
  }
}

// Written with the outer context, the children would add to a task that they do not run in.
TEST(recursion, the_context_of_another_task_is_refused_on_every_worker) {
  for (const std::uint32_t workers : {1u, 2u}) {
    runtime rt(with_policy("rws", workers));
    graph g;
    g.add([&](task_context& here) {
      batch children(here);
      for (int i = 0; i < 20; ++i)
        children.add([&] {
          EXPECT_THROW(batch{here}, usage_error);
          EXPECT_THROW(parallel_for(here, 0, 10, [](int) {}), usage_error);
        });
      children.add({.widths = 2, .all_members = true},
                   [&](team_member&) { EXPECT_THROW(batch{here}, usage_error); });
      children.wait();
      EXPECT_NO_THROW(batch{here}) << "after waiting it is its own again";
      parallel_for(here, 0, 100, [&](int) { EXPECT_THROW(batch{here}, usage_error); });
      EXPECT_NO_THROW(batch{here});
    });
    rt.run(g);
  }
}

}  // namespace
}  // namespace kilter
