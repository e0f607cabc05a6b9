// One suite for every policy at every number of workers, more than the machine has on purpose:
// whatever a policy decides, each task runs once, after what it waits for, and every way to end
// early ends.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <span>
#include <thread>

#include "base/random.hpp"
#include "base/sync.hpp"
#include "conformance/runtime_variants.hpp"
#include "conformance/subjects.hpp"

namespace kilter::conformance {
namespace {

using stress::sanitized;

/// Counts what each task did; every task hands out `pieces` chunks and may run at any width that
/// its options allow.
class ledger {
 public:
  static constexpr std::uint32_t pieces = 4;
  explicit ledger(const workload& w) : work_(w), done_(w.tasks.size()), before_(w.tasks.size()) {
    for (const edge_spec& e : w.edges) before_[e.to].push_back(e.from);
  }
  void add_to(graph& g) {
    build(g, work_, [this](std::uint32_t i) { return [this, i](team_member& c) { body(i, c); }; });
  }
  void expect_each_ran(std::uint32_t times) {
    std::size_t wrong = 0;
    for (auto& d : done_) wrong += d.load() != times * pieces;
    EXPECT_EQ(wrong, 0u) << "tasks that did not run " << times << " times";
    EXPECT_EQ(too_early_.load(), 0u) << "tasks that started before what they wait for was done";
  }
  void expect_none_ran_twice() {
    std::size_t wrong = 0;
    for (auto& d : done_) wrong += d.load() > pieces;
    EXPECT_EQ(wrong, 0u);
    EXPECT_EQ(too_early_.load(), 0u);
  }
  void reset() {
    for (auto& d : done_) d.store(0);
  }

 private:
  void body(std::uint32_t i, team_member& c) {
    while (const chunk part = c.next_chunk(pieces, 1)) {
      // All that it waits for has run at least as often as this task is about to.
      const std::uint32_t round = done_[i].load(std::memory_order_relaxed) / pieces + 1;
      for (const std::uint32_t b : before_[i])
        if (done_[b].load(std::memory_order_relaxed) < round * pieces) too_early_.fetch_add(1);
      for (std::size_t piece = part.begin; piece < part.end; ++piece)
        done_[i].fetch_add(1, std::memory_order_relaxed);
    }
  }
  const workload& work_;
  std::vector<std::atomic<std::uint32_t>> done_;
  std::vector<std::vector<std::uint32_t>> before_;
  std::atomic<std::uint32_t> too_early_{0};
};

class suite : public ::testing::TestWithParam<std::size_t> {
 protected:
  [[nodiscard]] static const variant& setup() { return variants()[GetParam()]; }
  /// Of the graphs that end early, whose length matters less.
  [[nodiscard]] static std::uint32_t small_size() {
    return stress::full_size() && !sanitized ? 10'000 : 1'500;
  }
  /// Calls `f(workers)` for every number of workers, until something fails.
  template <class F>
  static void at_each_size(F&& f) {
    for (const std::uint32_t workers : worker_counts(setup())) {
      SCOPED_TRACE(std::to_string(workers) + " workers");
      f(workers);
      if (HasFailure()) return;
    }
  }
};

INSTANTIATE_TEST_SUITE_P(all, suite, ::testing::Range<std::size_t>(0, variants().size()),
                         [](const auto& one) { return variants()[one.param].name; });

TEST_P(suite, static_graphs_run_and_run_again) {
  at_each_size([&](std::uint32_t workers) {
    const std::uint32_t size = ordinary_size(workers);
    const std::vector<workload> works = {tangled(size, 3), layered(size, 4), chain(size / 4)};
    runtime rt(options_for(setup(), workers));
    for (const workload& w : works) {
      SCOPED_TRACE(w.name);
      ledger l(w);
      graph g;
      l.add_to(g);
      for (std::uint32_t times = 1; times <= 2; ++times) {
        EXPECT_EQ(rt.run(g, times == 2 ? workers - 1 : no_core).tasks, w.tasks.size());
        l.expect_each_ran(times);
      }
    }
  });
}

/// Adds tasks below tasks, each node with two children and one that waits for both.
void grow(task_context& c, int depth, std::atomic<std::uint64_t>& leaves,
          std::atomic<std::uint64_t>& early) {
  if (depth == 0) {
    leaves.fetch_add(1);
    return;
  }
  std::atomic<int> children{0};
  batch b(c);
  std::array<task, 2> both;
  for (task& t : both)
    t = b.add({.priority = depth % 2 ? priority::high : priority::low},
              [&, depth](task_context& inner) {
                grow(inner, depth - 1, leaves, early);
                children.fetch_add(1);
              });
  const task after = b.add([&] {
    if (children.load() != 2) early.fetch_add(1);
  });
  b.edge(both[0], after);
  b.edge(both[1], after, 1e-6);
}

TEST_P(suite, running_tasks_add_tasks_and_wait_for_them) {
  if (setup().one_static_graph) GTEST_SKIP() << "its plan is for one graph at a time";
  const int depth = stress::full_size() ? 12 : sanitized ? 9 : 8;
  at_each_size([&](std::uint32_t workers) {
    runtime rt(options_for(setup(), workers));
    std::atomic<std::uint64_t> leaves{0}, early{0}, detached{0};
    graph g;
    for (int root = 0; root < 2; ++root)
      g.add([&](task_context& c) {
        grow(c, depth, leaves, early);
        batch b(c);
        for (int i = 0; i < 200; ++i) b.add([&] { detached.fetch_add(1); });
        b.detach();
      });
    const execution_stats s = rt.run(g);
    EXPECT_EQ(leaves.load(), std::uint64_t{2} << depth);
    EXPECT_EQ(early.load(), 0u);
    EXPECT_EQ(detached.load(), 400u);
    EXPECT_EQ(s.tasks, 2 + 400 + 2 * 3 * ((std::uint64_t{1} << depth) - 1));
  });
}

TEST_P(suite, moldable_tasks_keep_to_their_widths_and_meet_at_barriers) {
  const std::uint32_t count = stress::full_size() ? 3000 : sanitized ? 250 : 120;
  at_each_size([&](std::uint32_t workers) {
    runtime rt(options_for(setup(), workers));
    const auto exists = [&](const width_list& widths) {
      return widths.empty() || std::ranges::any_of(rt.machine().places(), [&](const place& p) {
               return std::ranges::find(widths, p.width) != widths.end();
             });
    };
    std::atomic<std::uint32_t> wrong_width{0}, out_of_step{0}, chunks{0}, met{0};
    std::vector<std::atomic<std::uint32_t>> steps(count);
    graph g;
    task before;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::array<width_list, 5> choices = {width_list{}, 2, {2, 4}, 1, 4};
      const width_list widths = choices[i % 5];
      const task_options o{.size_class = i % 3,
                           .priority = i % 2 ? priority::high : priority::low,
                           .widths = widths,
                           .all_members = i % 4 == 0};
      const bool check = exists(widths);
      const task t = g.add(o, [&, i, check, widths, all = o.all_members](team_member& c) {
        if (check && !widths.empty() && std::ranges::find(widths, c.width()) == widths.end())
          wrong_width.fetch_add(1);
        if (all) {
          // Each step is complete on all members before any takes the next.
          for (std::uint32_t step = 1; step <= 3; ++step) {
            steps[i].fetch_add(1);
            c.barrier();
            if (steps[i].load() < step * c.width()) out_of_step.fetch_add(1);
            c.barrier();
          }
          if (c.member() == 0) met.fetch_add(1);
        } else {
          while (const chunk part = c.next_chunk(8, 1))
            chunks.fetch_add(static_cast<std::uint32_t>(part.end - part.begin));
        }
      });
      if (i % 7 == 3) g.edge(before, t);
      before = t;
    }
    EXPECT_EQ(rt.run(g).tasks, count);
    EXPECT_EQ(wrong_width.load(), 0u);
    EXPECT_EQ(out_of_step.load(), 0u);
    EXPECT_EQ(met.load(), (count + 3) / 4);
    EXPECT_EQ(chunks.load(), 8 * (count - (count + 3) / 4));
  });
}

struct odd_task : std::runtime_error {
  using std::runtime_error::runtime_error;
};

TEST_P(suite, an_exception_ends_the_graph_and_comes_out_of_wait) {
  const std::uint32_t count = small_size() / 2;
  at_each_size([&](std::uint32_t workers) {
    runtime rt(options_for(setup(), workers));
    for (const std::uint32_t culprit : {0u, count / 2, count - 1}) {
      std::atomic<std::uint32_t> after_the_end{0};
      graph g;
      task last;
      for (std::uint32_t i = 0; i < count; ++i) {
        const task t =
            g.add({.priority = i % 3 ? priority::low : priority::high}, [&, i](team_member& c) {
              if (!c.next_chunk(1)) return;
              if (i == culprit) throw odd_task("task " + std::to_string(i));
              if (i > culprit && i % 2 == culprit % 2) after_the_end.fetch_add(1);
            });
        if (i >= 2 && i % 2 == culprit % 2) g.edge(last, t);
        if (i % 2 == culprit % 2) last = t;
      }
      execution e = rt.submit(g);
      try {
        e.wait();
        ADD_FAILURE() << "nothing came out";
      } catch (const odd_task& x) {
        EXPECT_EQ(x.what(), "task " + std::to_string(culprit));
      }
      EXPECT_THROW(e.wait(), odd_task) << "also the second time";
      EXPECT_EQ(after_the_end.load(), 0u) << "what waits for the task that threw must not run";
    }
    graph fine;
    fine.add([] {});
    EXPECT_EQ(rt.run(fine).tasks, 1u) << "the runtime is as good as new";
  });
}

TEST_P(suite, a_cancelled_graph_ends_early) {
  at_each_size([&](std::uint32_t workers) {
    runtime rt(options_for(setup(), workers));
    const workload w = tangled(small_size(), 9);
    ledger l(w);
    graph g;
    l.add_to(g);
    random_stream random(workers, "cancel");
    for (int round = 0; round < 3; ++round) {
      l.reset();
      execution e = rt.submit(g);
      for (std::uint32_t pause = random.below(2000) * static_cast<std::uint32_t>(round); pause > 0;
           --pause)
        sync::relax();
      e.cancel();
      try {
        e.wait();
      } catch (const cancelled_error&) {
      }
      EXPECT_TRUE(e.done());
      l.expect_none_ran_twice();
    }
    // A task that does not end by itself is told.
    graph endless;
    std::atomic<bool> started{false};
    const auto loop = [&](team_member& c) {
      started.store(true);
      while (!c.cancelled()) std::this_thread::yield();
    };
    endless.add(loop);
    const task first = endless.add(loop);
    endless.edge(first, endless.add([&] { ADD_FAILURE() << "started after the cancellation"; }));
    execution e = rt.submit(endless);
    stress::wait_until([&] { return started.load() || e.done(); });
    e.cancel();
    EXPECT_THROW(e.wait(), cancelled_error);
    l.reset();
    EXPECT_EQ(rt.run(g).tasks, w.tasks.size()) << "a cancelled graph can run again";
    l.expect_each_ran(1);
  });
}

TEST_P(suite, empty_and_single_task_graphs) {
  at_each_size([&](std::uint32_t workers) {
    runtime rt(options_for(setup(), workers));
    graph nothing;
    for (int i = 0; i < 20; ++i) EXPECT_EQ(rt.run(nothing).tasks, 0u);
    std::atomic<int> runs{0};
    graph one;
    one.add([&] { runs.fetch_add(1); });
    for (int i = 1; i <= 100; ++i) {
      EXPECT_EQ(rt.run(one, i % 2 ? no_core : static_cast<core_id>(i) % workers).tasks, 1u);
      ASSERT_EQ(runs.load(), i);
    }
  });
}

TEST_P(suite, a_stopped_runtime_starts_again) {
  at_each_size([&](std::uint32_t workers) {
    runtime rt(options_for(setup(), workers));
    const workload w = tangled(small_size() / 2, 21);
    ledger l(w);
    graph g;
    l.add_to(g);
    for (std::uint32_t round = 1; round <= 3; ++round) {
      rt.run(g);
      l.expect_each_ran(round);
      rt.stop();
      rt.stop();
      EXPECT_FALSE(rt.running());
      EXPECT_THROW((void)rt.submit(g), usage_error);
      rt.start();
      rt.start();
    }
    l.reset();
    execution e = rt.submit(g);
    rt.stop();
    EXPECT_TRUE(e.done()) << "stopping cancels what runs";
    l.expect_none_ran_twice();
    rt.start();
    l.reset();
    rt.run(g);
    l.expect_each_ran(1);
  });
}

TEST_P(suite, a_runtime_can_be_destroyed_in_any_state) {
  at_each_size([&](std::uint32_t workers) {
    const workload w = tangled(small_size() / 2, 33);
    random_stream random(workers, "destroy");
    for (int round = 0; round < (sanitized ? 3 : 4); ++round) {
      ledger l(w), l2(w);
      graph g, g2;
      l.add_to(g);
      l2.add_to(g2);
      execution e, e2;
      {
        runtime rt(options_for(setup(), workers));
        if (round > 0) {
          e = rt.submit(g);
          if (!setup().one_static_graph) e2 = rt.submit(g2, workers - 1);
        }
        for (std::uint32_t pause = random.below(3000) * static_cast<std::uint32_t>(round);
             pause > 0; --pause)
          sync::relax();
      }
      if (round > 0) {
        EXPECT_TRUE(e.done());
        EXPECT_EQ(e2.done(), !setup().one_static_graph);
      }
      l.expect_none_ran_twice();
      l2.expect_none_ran_twice();
    }
  });
}

TEST_P(suite, two_runtimes_exchange_graphs) {
  if (setup().one_static_graph) GTEST_SKIP() << "its plan is for one graph at a time";
  at_each_size([&](std::uint32_t workers) {
    runtime left(options_for(setup(), workers)), right(options_for(setup(), workers, 2));
    std::atomic<int> depth_reached{0};
    // Each task gives a graph to the other runtime and waits for it there; at one worker each this
    // works only if waiting helps.
    std::function<void(int)> exchange = [&](int depth) {
      depth_reached.fetch_add(1);
      if (depth == 0) return;
      graph inner;
      for (int i = 0; i < 2; ++i) inner.add([&, depth] { exchange(depth - 1); });
      (depth % 2 ? left : right).run(inner);
    };
    exchange(5);
    EXPECT_EQ(depth_reached.load(), 63);
  });
}

TEST_P(suite, many_outside_threads_submit_at_once) {
  if (setup().one_static_graph) GTEST_SKIP() << "its plan is for one graph at a time";
  const int threads = 4, graphs = stress::full_size() ? 100 : sanitized ? 6 : 12;
  at_each_size([&](std::uint32_t workers) {
    runtime rt(options_for(setup(), workers));
    const workload w = tangled(100, 41);
    std::atomic<int> failures{0};
    std::vector<std::thread> outside;
    for (int t = 0; t < threads; ++t)
      outside.emplace_back([&, t] {
        ledger a(w), b(w);
        graph ga, gb;
        a.add_to(ga);
        b.add_to(gb);
        for (int i = 1; i <= graphs; ++i) {
          execution first =
              rt.submit(ga, (t + i) % 3 ? no_core : static_cast<core_id>(i) % workers);
          execution second = rt.submit(gb);
          second.wait();
          first.wait();
          if (first.stats().tasks != w.tasks.size() || second.stats().tasks != w.tasks.size())
            failures.fetch_add(1);
        }
        a.expect_each_ran(static_cast<std::uint32_t>(graphs));
        b.expect_each_ran(static_cast<std::uint32_t>(graphs));
      });
    for (auto& t : outside) t.join();
    EXPECT_EQ(failures.load(), 0);
  });
}

TEST_P(suite, a_million_tasks) {
  const std::vector<std::uint32_t> counts = million_counts(setup());
  if (counts.empty()) GTEST_SKIP() << "part of tests/full";
  const workload w = layered(million(setup()), 8);
  for (const std::uint32_t workers : counts) {
    SCOPED_TRACE(std::to_string(workers) + " workers");
    runtime rt(options_for(setup(), workers));
    std::atomic<std::uint64_t> sum{0};
    graph g;
    build(g, w, [&](std::uint32_t i) {
      return [&sum, i](team_member& c) {
        if (c.next_chunk(1)) sum.fetch_add(i, std::memory_order_relaxed);
      };
    });
    EXPECT_EQ(rt.run(g).tasks, w.tasks.size());
    EXPECT_EQ(sum.load(), std::uint64_t{w.tasks.size()} * (w.tasks.size() - 1) / 2);
  }
}

}  // namespace
}  // namespace kilter::conformance
