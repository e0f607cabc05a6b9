// One task of a run: waiting for it, asking about it, cancelling it; and waiting with a limit.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

#include "kilter/policy.hpp"
#include "kilter/runtime.hpp"
#include "stress/watchdog.hpp"
#include "unit/runtime/scripted.hpp"

namespace kilter {
namespace {

using namespace std::chrono_literals;
using stress::wait_until;

/// A task that lasts until the test lets it go.
struct held_body {
  std::atomic<bool> entered{false}, open{false};
  void pass() {
    entered.store(true);
    wait_until([&] { return open.load(); });
  }
};

class handles : public ::testing::TestWithParam<const char*> {
 protected:
  runtime_options options(std::uint32_t cores = 2) const { return with_policy(GetParam(), cores); }
};
/// Where a body waits for the test, and the policy must not have bound another task to its worker
/// (docs/reliability.md): auto may.
class handles_beside_held_bodies : public handles {};

TEST_P(handles_beside_held_bodies, a_task_can_be_waited_for_while_the_others_go_on) {
  graph g;
  held_body slow;
  std::atomic<bool> ran{false};
  const task quick = g.add([&] { ran.store(true); });
  const task blocked = g.add([&] { slow.pass(); });
  const task behind = g.add([] {});
  g.edge(blocked, behind);
  runtime rt(options());
  execution e = rt.submit(g);
  wait_until([&] { return slow.entered.load(); });
  e.wait(quick);
  EXPECT_TRUE(ran.load());
  EXPECT_TRUE(e.done(quick));
  EXPECT_FALSE(e.done(behind));
  EXPECT_FALSE(e.done());
  EXPECT_FALSE(e.wait_for(behind, 5ms));
  EXPECT_FALSE(e.wait_for(5ms));
  EXPECT_FALSE(e.wait_until(std::chrono::steady_clock::now()));
  slow.open.store(true);
  EXPECT_TRUE(e.wait_for(behind, 1h));
  EXPECT_TRUE(e.wait_for(std::chrono::hours::max()));
  e.wait(quick);
  e.wait();
}

TEST_P(handles, hold_for_each_run_of_the_graph) {
  graph g;
  std::atomic<int> sum{0};
  const task first = g.add([&] { sum.fetch_add(1); });
  const task second = g.add([&] { sum.fetch_add(1000); });
  g.edge(first, second);
  runtime rt(options());
  execution before;
  for (int run = 1; run <= 300; ++run) {  // the numbers of runs come round
    execution e = rt.submit(g);
    e.wait(second);
    ASSERT_EQ(sum.load(), 1001 * run);
    e.wait();
    if (before.done()) {
      EXPECT_TRUE(before.done(first));
    }
    before = e;
  }
}

TEST_P(handles, several_threads_may_wait_for_several_tasks) {
  graph g;
  constexpr int length = 200;
  std::vector<task> chain;
  std::atomic<int> at{0};
  for (int i = 0; i < length; ++i) {
    chain.push_back(g.add([&] { at.fetch_add(1); }));
    if (i > 0) g.edge(chain[static_cast<std::size_t>(i) - 1], chain.back());
  }
  runtime rt(options());
  for (int round = 0; round < 20; ++round) {
    at.store(0);
    execution e = rt.submit(g);
    std::vector<std::thread> waiters;
    std::atomic<int> too_early{0};
    for (int w = 0; w < 4; ++w)
      waiters.emplace_back([&, w] {
        for (int i = w; i < length; i += 4) {
          e.wait(chain[static_cast<std::size_t>(i)]);
          if (at.load() <= i) too_early.fetch_add(1);
        }
      });
    for (std::thread& t : waiters) t.join();
    e.wait();
    EXPECT_EQ(too_early.load(), 0);
  }
}

TEST_P(handles_beside_held_bodies, a_body_may_wait_for_a_task_of_another_graph) {
  graph first, second;
  held_body g;
  std::atomic<bool> saw{false};
  const task part = first.add([] {});
  const task blocked = first.add([&] { g.pass(); });
  runtime rt(options(3));
  execution e = rt.submit(first);
  wait_until([&] { return g.entered.load(); });
  second.add([&] {
    e.wait(part);
    saw.store(!e.done(blocked));
  });
  rt.run(second);
  EXPECT_TRUE(saw.load());
  g.open.store(true);
  e.wait();
}

TEST_P(handles, cancelling_a_task_leaves_out_what_depends_on_it_and_nothing_else) {
  graph g;
  held_body holds;
  std::atomic<int> ran{0};
  const task root = g.add([&] { holds.pass(); });
  const task cancelled = g.add([&] { ran.fetch_add(1); });
  const task child = g.add([&] { ran.fetch_add(10); });
  const task grandchild = g.add([&] { ran.fetch_add(100); });
  const task other = g.add([&] { ran.fetch_add(1000); });
  g.edge(root, cancelled);
  g.edge(cancelled, child);
  g.edge(child, grandchild);
  g.edge(root, grandchild);
  g.edge(root, other);
  runtime rt(options());
  execution e = rt.submit(g);
  wait_until([&] { return holds.entered.load(); });
  e.cancel(cancelled);
  holds.open.store(true);
  e.wait();
  EXPECT_EQ(ran.load(), 1000);
  EXPECT_EQ(e.stats().tasks, 2u);
  EXPECT_NO_THROW(e.wait(root));
  EXPECT_NO_THROW(e.wait(other));
  EXPECT_THROW(e.wait(cancelled), cancelled_error);
  EXPECT_THROW(e.wait(grandchild), cancelled_error);
  e.cancel(other);  // too late: no effect, in this run or the next
  ran.store(0);
  EXPECT_EQ(rt.run(g).tasks, 5u);
  EXPECT_EQ(ran.load(), 1111);
}

TEST_P(handles_beside_held_bodies, a_running_body_sees_that_its_task_was_cancelled) {
  graph g;
  std::atomic<bool> entered{false}, behind{false};
  const task endless = g.add([&](task_context& me) {
    entered.store(true);
    wait_until([&] { return me.cancelled(); });
  });
  const task next = g.add([&] { behind.store(true); });
  const task free = g.add([](task_context& me) { EXPECT_FALSE(me.cancelled()); });
  g.edge(endless, next);
  runtime rt(options());
  execution e = rt.submit(g);
  wait_until([&] { return entered.load(); });
  e.cancel(endless);
  e.wait(free);
  e.wait();
  EXPECT_FALSE(behind.load());
}

TEST_P(handles, a_task_that_threw_tells_who_waits_for_it) {
  graph g;
  const task good = g.add([] {});
  const task bad = g.add([] { throw std::runtime_error("broken"); });
  const task after = g.add([] {});
  g.edge(good, bad);
  g.edge(bad, after);
  runtime rt(options());
  execution e = rt.submit(g);
  EXPECT_THROW(e.wait(bad), std::runtime_error);
  EXPECT_THROW(e.wait(after), std::runtime_error);
  EXPECT_NO_THROW(e.wait(good));
  EXPECT_THROW(e.wait(), std::runtime_error);
}

TEST_P(handles_beside_held_bodies, of_another_graph_or_of_a_batch_are_refused) {
  graph g, other;
  task added;
  std::atomic<bool> ready{false};
  held_body holds;
  const task strange = other.add([] {});
  const task own = g.add([&](task_context& me) {
    batch b(me);
    added = b.add([&] { holds.pass(); });
    b.release();
    ready.store(true);
    b.wait();
  });
  runtime rt(options());
  execution e = rt.submit(g);
  wait_until([&] { return ready.load(); });
  for (const task t : {strange, added, task{}}) {
    EXPECT_THROW(e.wait(t), usage_error);
    EXPECT_THROW((void)e.wait_for(t, 1ms), usage_error);
    EXPECT_THROW((void)e.done(t), usage_error);
    EXPECT_THROW(e.cancel(t), usage_error);
  }
  EXPECT_THROW(g.edge(added, own), usage_error);
  EXPECT_THROW(execution{}.wait(own), usage_error);
  holds.open.store(true);
  e.wait();
}

std::string named(const ::testing::TestParamInfo<const char*>& i) {
  std::string name = i.param;
  std::ranges::replace(name, '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(policies, handles, ::testing::Values("fifo", "rws", "dam-c", "auto"),
                         named);
INSTANTIATE_TEST_SUITE_P(policies, handles_beside_held_bodies,
                         ::testing::Values("fifo", "rws", "dam-c"), named);

// ---- what would hang or crash ----

TEST(runs, a_body_that_waits_for_its_own_run_is_told) {
  runtime rt(with_policy("auto", 2));
  graph g;
  execution e;
  std::atomic<bool> submitted{false};
  std::atomic<int> refused{0};
  task own;
  own = g.add([&] {
    wait_until([&] { return submitted.load(); });
    for (const bool whole : {true, false}) try {
        whole ? e.wait() : e.wait(own);
      } catch (const usage_error&) {
        refused.fetch_add(1);
      }
  });
  e = rt.submit(g);
  submitted.store(true);
  execution(e).wait();
  EXPECT_EQ(refused.load(), 2);
}

TEST(stop, a_request_cancels_the_run_that_was_given_the_token) {
  for (const std::uint32_t workers : {1u, 2u}) {
    runtime rt(with_policy("auto", workers));
    std::stop_source stop;
    std::atomic<bool> begun{false};
    bool after = false;
    graph g;
    const task first = g.add([&](task_context& here) {
      begun = true;
      stress::wait_until([&] { return here.cancelled(); });
    });
    g.edge(first, g.add([&] { after = true; }));
    execution e = rt.submit(g, stop.get_token());
    stress::wait_until([&] { return begun.load(); });
    EXPECT_FALSE(e.done());
    stop.request_stop();
    EXPECT_THROW(e.wait(), cancelled_error);
    EXPECT_FALSE(after);
    begun = false;
    EXPECT_THROW(rt.run(g, stop.get_token()), cancelled_error);
    EXPECT_FALSE(begun.load()) << "it was requested before, so no body runs";
    EXPECT_THROW(rt.run([] {}, stop.get_token()), cancelled_error);
    std::stop_source other;
    EXPECT_THROW(rt.run([&] { other.request_stop(); }, other.get_token()), cancelled_error)
        << "a body may request it";
    EXPECT_EQ(rt.run([] {}).tasks, 1u) << "the runtime goes on";
  }
}

TEST(stop, a_request_after_the_run_has_no_effect) {
  std::stop_source stop;
  {
    runtime rt(with_policy("auto", 2));
    graph g;
    g.add([] {});
    execution done = rt.submit(g, stop.get_token());
    done.wait();
    stop.request_stop();
    EXPECT_EQ(done.stats().tasks, 1u);
    done.wait();
  }
  runtime rt(with_policy("auto", 2));
  for (int round = 0; round < (stress::sanitized ? 100 : 1000); ++round) {
    graph g;
    g.add([] {});
    std::stop_source soon;
    execution e = rt.submit(g, soon.get_token());
    std::thread requests([&] { soon.request_stop(); });
    try {
      e.wait();
    } catch (const cancelled_error&) {
    }
    e = {};
    requests.join();
  }
}

TEST(stop, a_request_lets_go_who_waits_and_the_run_goes_on) {
  using namespace std::chrono_literals;
  runtime rt(with_policy("auto", 1)), other(with_policy("auto", 2));
  for (const bool in_a_task : {false, true})
    for (const bool for_one_task : {false, true}) {
      std::stop_source stop;
      std::atomic<bool> open{false}, waits{false};
      graph g;
      const task held = g.add([&] { stress::wait_until([&] { return open.load(); }); });
      execution e = rt.submit(g);
      bool ended = true;
      const auto wait = [&] {
        waits = true;
        ended = for_one_task ? e.wait(held, stop.get_token()) : e.wait(stop.get_token());
      };
      std::thread waiter([&] {
        if (in_a_task)
          other.run(wait);
        else
          wait();
      });
      stress::wait_until([&] { return waits.load(); });
      stop.request_stop();
      waiter.join();
      EXPECT_FALSE(ended);
      EXPECT_FALSE(e.wait_for(10h, stop.get_token()));
      EXPECT_FALSE(e.wait_until(held, std::chrono::steady_clock::now() + 10h, stop.get_token()));
      EXPECT_FALSE(e.done());
      open = true;
      e.wait();
      EXPECT_TRUE(e.wait(stop.get_token())) << "what is done is done";
      EXPECT_TRUE(e.wait(held, stop.get_token()));
    }
}

TEST(runs, a_graph_that_goes_while_it_runs_is_cancelled_and_waited_for) {
  runtime rt(with_policy("auto", 2));
  std::atomic<int> running{0}, after{0};
  execution e;
  for (int i = 0; i < 20; ++i) {
    std::atomic<bool> entered{false};
    graph g;
    const task first = g.add([&](task_context& me) {
      running.fetch_add(1);
      entered.store(true);
      wait_until([&] { return me.cancelled(); });
      running.fetch_sub(1);
    });
    g.edge(first, g.add([&] { after.fetch_add(1); }));
    e = rt.submit(g);
    wait_until([&] { return entered.load(); });
    if (i % 2 == 0) {
      g = graph();
      EXPECT_EQ(running.load(), 0);
    }
  }
  EXPECT_EQ(running.load(), 0);
  EXPECT_EQ(after.load(), 0);
  EXPECT_TRUE(e.done());
  EXPECT_THROW(e.wait(), cancelled_error);
}

TEST(runs, a_graph_that_was_moved_from_is_refused_and_can_be_cleared) {
  runtime rt(with_policy("auto", 1));
  graph g;
  g.add([] {});
  graph h = std::move(g);
  EXPECT_EQ(rt.run(h).tasks, 1u);
  EXPECT_THROW(g.add([] {}), usage_error);
  EXPECT_THROW((void)g.type("t"), usage_error);
  EXPECT_THROW(rt.run(g), usage_error);
  EXPECT_EQ(g.size(), 0u);
  EXPECT_EQ(g.edges(), 0u);
  g.clear();
  g.add([] {});
  EXPECT_EQ(rt.run(g).tasks, 1u);
}

TEST(runs, work_that_is_no_number_is_refused) {
  runtime rt(with_policy("auto", 1));
  graph g;
  EXPECT_THROW(g.add({.work = std::nan("")}, [] {}), usage_error);
  EXPECT_THROW(g.add({.work = std::numeric_limits<double>::infinity()}, [] {}), usage_error);
  g.add([](task_context& me) {
    batch b(me);
    b.add([] {});
    EXPECT_THROW(b.add({.work = std::nan("")}, [] {}), usage_error);
  });
  EXPECT_EQ(rt.run(g).tasks, 2u);
}

// ---- home cores ----

/// What the engine gives as the waker of each task, by core.
class notes_wakers final : public policy {
 public:
  std::string_view name() const noexcept override { return "notes-wakers"; }
  discipline queues(const machine&) const override {
    discipline d;
    d.asks_ready_low = true;
    return d;
  }
  ready_decision on_ready(task_ref t, task_ref, core_id waker, view& v) const override {
    seen.at(v.id(t)).store(waker);
    return ready_decision::wait_in(waker == no_core ? 0 : waker);
  }
  mutable std::array<std::atomic<core_id>, 64> seen{};
};

TEST(home, a_task_waits_on_one_of_its_home_cores) {
  const auto asked = std::make_shared<const notes_wakers>();
  runtime_options o;
  o.machine = cores(4, 2);
  o.custom = asked;
  runtime rt(o);
  graph g;
  const task root = g.add({.home = 3}, [] {});
  for (int i = 0; i < 20; ++i) g.edge(root, g.add({.home = rt.machine().clusters()[1]}, [] {}));
  for (int i = 0; i < 20; ++i) g.edge(root, g.add({.home = core_id{1}}, [] {}));
  EXPECT_EQ(rt.run(g).tasks, 41u);
  EXPECT_EQ(asked->seen[0].load(), 3u);
  for (std::size_t i = 1; i <= 20; ++i) {
    EXPECT_GE(asked->seen[i].load(), 2u);
    EXPECT_LE(asked->seen[i].load(), 3u);
    EXPECT_EQ(asked->seen[i + 20].load(), 1u);
  }
}

TEST(home, many_roots_with_homes_run_under_every_policy) {
  for (const policy_info& p : policy_catalogue()) {
    graph g;
    std::atomic<int> ran{0};
    for (core_id i = 0; i < 200; ++i) g.add({.home = i % 3}, [&] { ran.fetch_add(1); });
    runtime rt(with_policy(std::string(p.name), 3));
    rt.run(g);
    EXPECT_EQ(ran.load(), 200) << p.name;
  }
}

TEST(home, cores_that_are_not_there_are_refused) {
  runtime rt(with_policy("auto", 2));
  graph g, h;
  g.add({.home = 2}, [] {});
  EXPECT_THROW(rt.run(g), usage_error);
  h.add([](task_context& me) {
    batch b(me);
    EXPECT_THROW(b.add({.home = home_cores(1, 2)}, [] {}), usage_error);
    b.add({.home = home_cores(0, 2)}, [] {});
  });
  EXPECT_EQ(rt.run(h).tasks, 2u);
}

}  // namespace
}  // namespace kilter
