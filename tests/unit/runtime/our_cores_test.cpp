// Runtimes that have something to do at the same time, in two processes or in one, divide the cores
// (docs/neighbours.md). Others of this user may come and go meanwhile, so what is to be is waited
// for.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "kilter/parallel.hpp"
#include "kilter/runtime.hpp"
#include "runtime/engine.hpp"
#include "stress/watchdog.hpp"

namespace kilter {
namespace {

using namespace std::chrono_literals;

void work_for(std::chrono::nanoseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

bool becomes(const std::function<bool()>& is) {
  const auto end = std::chrono::steady_clock::now() + 20s;
  while (!is())
    if (std::chrono::steady_clock::now() > end)
      return false;
    else
      std::this_thread::sleep_for(1ms);
  return true;
}

runtime_options sharing(const char* policy = "auto") {
  runtime_options o;
  o.policy = policy;
  o.shares_cores = true;
  return o;
}

/// The cores that are its own now.
std::set<core_id> cores_of(runtime& rt) {
  std::set<core_id> own;
  for (const auto& w : detail::runtime_access::of(rt).workers)
    if (w->ours()) own.insert(w->core);
  return own;
}
bool has_all(runtime& rt) { return cores_of(rt).size() == rt.workers(); }

bool are_divided(runtime& a, runtime& b) {
  const std::set<core_id> of_a = cores_of(a), of_b = cores_of(b);
  std::set<core_id> both = of_a;
  both.insert(of_b.begin(), of_b.end());
  return !of_a.empty() && !of_b.empty() && both.size() == of_a.size() + of_b.size() &&
         both.size() == a.workers();
}

/// Tasks that could use all cores, again and again.
void run_some(runtime& rt, std::atomic<std::uint64_t>& done) {
  graph g;
  for (int i = 0; i < 64; ++i)
    g.add([&] {
      work_for(100us);
      done.fetch_add(1, std::memory_order_relaxed);
    });
  rt.run(g);
}

class load {
 public:
  explicit load(runtime& rt)
      : thread_([&rt, this] {
          while (!stop_.load(std::memory_order_relaxed)) run_some(rt, done_);
        }) {}
  ~load() {
    stop_.store(true);
    thread_.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> done_{0};
  std::thread thread_;
};

class our_cores : public testing::Test {
 protected:
  void SetUp() override {
    if (machine::local().core_count() < 2) GTEST_SKIP() << "needs two CPUs";
    if (const char* const was = std::getenv("KILTER_SHARING")) was_ = was;
    ::unsetenv("KILTER_SHARING");
    lock_ = ::open("/dev/shm", O_RDONLY | O_DIRECTORY | O_CLOEXEC);  // as cli:run_openmp does
    if (lock_ >= 0) ::flock(lock_, LOCK_EX);
  }
  void TearDown() override {
    ::unsetenv("KILTER_SHARING");
    if (was_) ::setenv("KILTER_SHARING", was_->c_str(), 1);
    if (lock_ >= 0) ::close(lock_);
  }

 private:
  std::optional<std::string> was_;
  int lock_ = -1;
};

TEST_F(our_cores, two_runtimes_divide_them_and_who_is_done_gives_all_back) {
  for (const char* policy : {"auto", "rws", "dam-c"}) {
    runtime one(sharing(policy)), other(sharing(policy));
    const load runs(one);
    {
      const load too(other);
      EXPECT_TRUE(becomes([&] { return are_divided(one, other); })) << policy;
    }
    EXPECT_TRUE(becomes([&] { return has_all(one); })) << policy << ": the other runs nothing";
  }
}

TEST_F(our_cores, who_can_use_one_leaves_the_others) {
  runtime one(sharing()), other(sharing());
  if (one.workers() < 3) GTEST_SKIP() << "needs three CPUs";
  const load runs(one);
  std::atomic<bool> stop{false};
  graph g;
  g.add([&] {
    while (!stop.load()) work_for(100us);
  });
  execution e = other.submit(g);
  EXPECT_TRUE(becomes(
      [&] { return cores_of(one).size() + 1 == one.workers() && cores_of(other).size() == 1; }));
  stop = true;
  e.wait();
}

TEST_F(our_cores, a_body_that_runs_leaves_the_core_and_ends_on_another) {
  runtime one(sharing("rws")), other(sharing("rws"));
  std::atomic<bool> stop{false};
  std::vector<std::atomic<int>> cpu(one.workers());
  graph g;
  for (auto& c : cpu)
    g.add([&] {
      while (!stop.load()) c.store(sched_getcpu());
    });
  execution e = one.submit(g);
  EXPECT_TRUE(becomes([&] {
    std::set<int> used;
    for (auto& c : cpu) used.insert(c.load());
    return used.size() == cpu.size();
  }));
  const load too(other);
  EXPECT_TRUE(becomes([&] {
    std::set<int> own;
    for (const core_id c : cores_of(one)) own.insert(one.machine().cores()[c].os_index);
    for (auto& c : cpu)
      if (!own.contains(c.load())) return false;
    return own.size() < cpu.size();
  }));
  stop = true;
  e.wait();
}

TEST_F(our_cores, what_was_told_off_keeps_all) {
  const auto all = std::make_shared<const machine>(machine::local());
  const auto keeps_all = [&](const char* why, runtime_options o) {
    runtime one(std::move(o)), other(sharing());
    const load runs(one), too(other);
    const auto end = std::chrono::steady_clock::now() + 100ms;
    while (std::chrono::steady_clock::now() < end && has_all(one)) std::this_thread::sleep_for(1ms);
    EXPECT_TRUE(has_all(one)) << why;
  };
  runtime_options off;
  off.shares_cores = false;
  keeps_all("shares_cores", off);
  runtime_options given;
  given.machine = all;
  keeps_all("a machine was given", given);
  runtime_options unpinned = sharing();
  unpinned.pinned = false;
  keeps_all("nothing is pinned", unpinned);
  keeps_all("tasks wait for certain cores", sharing("heft"));
  ::setenv("KILTER_SHARING", "0", 1);
  keeps_all("KILTER_SHARING", sharing());
}

TEST_F(our_cores, of_a_process_that_is_killed_the_other_has_them) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "its children start no threads";
#endif
  std::array<int, 2> began{};
  ASSERT_EQ(::pipe(began.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    runtime rt(sharing());
    std::atomic<std::uint64_t> done{0};
    run_some(rt, done);
    if (::write(began[1], "", 1) != 1) _exit(1);
    for (;;) run_some(rt, done);
  }
  ::close(began[1]);
  char none = 0;
  ASSERT_EQ(::read(began[0], &none, 1), 1);
  runtime here(sharing());
  const load runs(here);
  EXPECT_TRUE(becomes([&] { return !has_all(here); }));
  ::kill(child, SIGKILL);
  EXPECT_TRUE(becomes([&] { return has_all(here); }));
  ::waitpid(child, nullptr, 0);
  ::close(began[0]);
}

/// Everything that a runtime can have in hand, while cores come and go.
class coming_and_going {
 public:
  explicit coming_and_going(runtime& other)
      : thread_([&other, this] {
          while (!stop_.load()) {
            const load runs(other);
            std::this_thread::sleep_for(30ms);
          }
        }) {}
  ~coming_and_going() {
    stop_.store(true);
    thread_.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

TEST_F(our_cores, nothing_is_lost_while_they_come_and_go) {
  for (const policy_info& p : policy_catalogue()) {
    runtime rt(sharing(std::string(p.name).c_str())), other(sharing());
    const coming_and_going cores(other);
    const auto end = std::chrono::steady_clock::now() + 200ms;
    while (std::chrono::steady_clock::now() < end) {
      std::atomic<int> ran{0};
      graph g;
      task before{};
      for (int layer = 0; layer < 8; ++layer) {
        const task critical = g.add({.priority = priority::high}, [&] {
          work_for(50us);
          ++ran;
        });
        if (layer > 0) g.edge(before, critical);
        for (int i = 0; i < 4; ++i) {
          const task one = g.add([&] {
            work_for(50us);
            ++ran;
          });
          if (layer > 0) g.edge(before, one);
        }
        const task wide = g.add({.type = g.type("wide"), .widths = {1, 2}}, [&](team_member& here) {
          while (here.next_chunk(8, 1)) work_for(10us);
        });
        if (layer > 0) g.edge(before, wide);
        before = critical;
      }
      g.add({.type = g.type("loop")}, [&](task_context& here) {
        for (int i = 0; i < 5; ++i) parallel_for(here, 0, 200, [&](std::size_t) { work_for(5us); });
        ++ran;
      });
      g.add({.type = g.type("batch")}, [&](task_context& here) {
        batch b(here);
        for (int i = 0; i < 20; ++i)
          b.add([&] {
            work_for(20us);
            ++ran;
          });
        b.wait();
      });
      rt.run(g);
      ASSERT_EQ(ran.load(), 8 * 5 + 1 + 20) << p.name;
    }
  }
}

TEST_F(our_cores, members_that_must_all_come_do) {
  runtime rt(sharing("dam-c")), other(sharing());
  if (rt.machine().clusters().front().size < 2) GTEST_SKIP() << "needs two CPUs of a cluster";
  const load runs(other);
  EXPECT_TRUE(becomes([&] {
    std::atomic<int> met{0};
    graph g;
    for (int i = 0; i < 20; ++i)
      g.add({.type = g.type("all"), .widths = {2}, .all_members = true}, [&](team_member& here) {
        work_for(100us);
        here.barrier();
        ++met;
        here.barrier();
      });
    rt.run(g);
    EXPECT_EQ(met.load(), 40);
    return !has_all(rt);
  }));
}

}  // namespace
}  // namespace kilter
