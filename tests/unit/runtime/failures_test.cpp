// What the operating system may refuse, and what a process may do to itself: no memory, no thread,
// a fork, an exit.

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sched.h>
#include <array>
#include <atomic>
#include <cstdlib>
#include <new>
#include <system_error>

#include "kilter/parallel.hpp"
#include "stress/watchdog.hpp"
#include "unit/runtime/memory_that_ends.hpp"
#include "unit/runtime/scripted.hpp"

namespace kilter {
namespace {

/// Runs the graph with memory ending after `count` allocations of the body that calls `armed`. True
/// if it ran to its end.
bool runs(runtime& rt, graph& g, long count) {
  bool whole = true;
  try {
    rt.run(g);
  } catch (const std::bad_alloc&) {
    whole = false;
  }
  testing_memory::allocations_left.store(-1);
  EXPECT_LT(count, 4000) << "it never gets through";
  return whole;
}

// Memory ends at each allocation in turn, of the batch and of the queues behind it.
TEST(out_of_memory, a_batch_ends_its_run_wherever_memory_ends) {
  for (const char* p : {"rws", "dam-c", "fifo", "cats", "dheft", "auto"}) {
    runtime rt(with_policy(p, 2));
    for (long count = 0;; count += stress::sanitized ? 7 : 1) {
      std::atomic<int> alive{0};
      graph g;
      g.add([&](task_context& here) {
        testing_memory::allocations_left.store(count);
        batch b(here);
        task before;
        for (int i = 0; i < 40; ++i) {
          const task t =
              b.add({.priority = i % 4 ? priority::low : priority::high,
                     .work = i % 3 ? 1.0 : 0.0,
                     .name = "a name that is too long to be kept in place"},
                    [big = std::array<char, 200>{}, &alive] { alive.fetch_add(big[3]); });
          if (i % 5 == 4) b.edge(before, t, 1e-6);
          before = t;
        }
        for (int i = 0; i < 10; ++i)
          b.add({.widths = 2, .all_members = i % 2 == 0}, [](team_member& me) {
            while (me.next_chunk(10, 1)) {
            }
          });
        b.wait();
      });
      if (runs(rt, g, count)) break;
    }
    graph after;
    after.add([] {});
    EXPECT_EQ(rt.run(after).tasks, 1u) << "the runtime is as good as new under " << p;
  }
}

TEST(out_of_memory, a_graph_and_a_loop_inside_a_task_end_their_run_wherever_memory_ends) {
  for (const char* p : {"rws", "dam-c", "fifo", "dheft", "auto"}) {
    runtime rt(with_policy(p, 2));
    for (long count = 0;; count += stress::sanitized ? 7 : 1) {
      graph g, inner;
      task before = inner.add([] {});
      for (int i = 0; i < 100; ++i) {
        const task t = inner.add({.priority = i % 2 ? priority::low : priority::high}, [] {});
        if (i % 3) inner.edge(before, t);
        before = t;
      }
      std::atomic<int> done{0};
      g.add([&] {
        testing_memory::allocations_left.store(count);
        rt.run(inner);
        parallel_for(rt, 0, 100, [&](int) { done.fetch_add(1); }, {.type = "loop"});
      });
      if (runs(rt, g, count)) {
        EXPECT_EQ(done.load(), 100);
        break;
      }
    }
  }
}

TEST(out_of_memory,
     a_submission_that_cannot_be_made_leaves_the_graph_and_the_runtime_as_they_were) {
  runtime rt(with_policy("dam-c", 2));
  graph g;
  for (int i = 0; i < 10; ++i) g.add([] {});
  int refused = 0;
  for (long count = 0;; ++count) {
    ASSERT_LT(count, 4000) << "it never gets through";
    execution e;
    testing_memory::allocations_left.store(count);
    try {
      e = rt.submit(g);
    } catch (const std::bad_alloc&) {
      ++refused;
    }
    testing_memory::allocations_left.store(-1);
    try {
      e.wait();
      break;
    } catch (const usage_error&) {     // it is empty
    } catch (const std::bad_alloc&) {  // memory ended on a worker
    }
  }
  EXPECT_GT(refused, 0);
  rt.stop();  // waits for whatever counts as running
}

/// New threads ask for a stack that cannot be had.
class no_threads {
 public:
  no_threads() {
    pthread_attr_init(&before_);
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, std::size_t{1} << 46);
    pthread_setattr_default_np(&huge);
  }
  ~no_threads() { pthread_setattr_default_np(&before_); }

 private:
  pthread_attr_t before_{};
};

TEST(no_threads_left, a_runtime_that_gets_no_workers_says_so) {
  const no_threads none;
  try {
    runtime rt(with_policy("rws", 4));
    FAIL() << "there were threads";
  } catch (const std::system_error& e) {
    EXPECT_NE(std::string(e.what()).find("worker 0 of 4 got no thread"), std::string::npos)
        << e.what();
  }
}

TEST(no_threads_left, a_member_that_nobody_can_stand_in_for_ends_the_run_instead_of_holding_it_up) {
  runtime rt(scripted_on(2));
  graph inner, outer;
  std::atomic<int> met{0};
  inner.add({.all_members = true, .work = at(rt, 0, 2)}, [&](team_member& me) {
    me.barrier();
    met.fetch_add(1);
  });
  outer.add({.work = at(rt, 0, 1)}, [&] {
    const no_threads none;
    rt.run(inner);
  });
  try {
    rt.run(outer);
    FAIL() << "nothing came out";
  } catch (const std::system_error& e) {
    EXPECT_NE(std::string(e.what()).find("stand in for core 0"), std::string::npos) << e.what();
  }
  EXPECT_EQ(met.load(), 0);
  graph again;
  again.add({.work = at(rt, 1, 1)}, [] {});
  EXPECT_EQ(rt.run(again).tasks, 1u);
}

bool is_child = false;
/// What threads of the parent hold is no leak of a child that lacks them.
extern "C" int __lsan_is_turned_off() { return is_child ? 1 : 0; }

/// The exit status of a child in which `f` is called; -1 if it was killed, as by the alarm.
template <class F>
int status_in_child(F&& f) {
  const pid_t child = fork();
  if (child == 0) {
    is_child = true;
    alarm(20);
    _exit(f());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#if !defined(__SANITIZE_THREAD__)  // which does not take threads in a fork's child

TEST(fork, the_child_is_told_that_it_has_no_workers_and_may_make_its_own) {
  auto rt = std::make_unique<runtime>(with_policy("auto", 2));
  graph g;
  g.add([] {});
  rt->run(g);
  std::atomic<bool> go{false};
  graph waiting;
  waiting.add([&] { stress::wait_until([&] { return go.load(); }); });
  execution running = rt->submit(waiting);
  const int status = status_in_child([&] {
    const auto refuses = [](auto&& call) {
      try {
        call();
      } catch (const usage_error&) {
        return true;
      }
      return false;
    };
    if (!refuses([&] { rt->run(g); })) return 1;
    if (!refuses([&] { running.wait(); })) return 2;
    if (!refuses([&] { rt->stop(); })) return 3;
    if (!refuses([&] { rt->start(); })) return 4;
    rt.reset();
    graph fresh;
    fresh.add([] {});
    runtime own(with_policy("auto", 2));
    return own.run(fresh).tasks == 1 ? 0 : 5;
  });
  EXPECT_EQ(status, 0);
  go.store(true);
  running.wait();
}

TEST(exiting, a_body_may_end_the_process_while_the_runtime_is_static) {
  const int status = status_in_child([] {
    static runtime rt(with_policy("auto", 2));
    graph g;
    g.add([] { std::exit(7); });
    rt.run(g);
    return 1;
  });
  EXPECT_EQ(status, 7);
}

#endif

}  // namespace
}  // namespace kilter
