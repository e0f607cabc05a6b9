// A task that waited goes on, for as long as it likes. What its worker did for others meanwhile
// must not wait for its end.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/attachments.hpp"
#include "stress/watchdog.hpp"
#include "unit/runtime/scripted.hpp"

namespace kilter {
namespace {

using stress::wait_until;

constexpr double into_the_queue = 0.5, to_run_next = 0.25;  // for task_options::work

/// Beside what `scripted` knows: a queue from which all cores take, and tasks that run next where
/// they became ready.
class with_a_queue final : public policy {
 public:
  /// `takers`: of the queue; none: all cores.
  explicit with_a_queue(std::vector<core_id> takers = {}) : takers_(std::move(takers)) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "with a queue"; }
  [[nodiscard]] discipline queues(const machine& m) const override {
    discipline d = bound_.queues(m);
    d.queues = {{no_core, queue_order::fifo, takers_}};
    d.deques_too = true;
    return d;
  }
  [[nodiscard]] ready_decision on_ready(task_ref t, task_ref parent, core_id waker,
                                        view& v) const override {
    if (v.work(t) == into_the_queue) return ready_decision::wait_in(v.machine().core_count(), 0);
    if (v.work(t) == to_run_next) return ready_decision::next();
    return bound_.on_ready(t, parent, waker, v);
  }

 private:
  std::vector<core_id> takers_;
  scripted bound_;
};

runtime_options with_a_queue_on(std::uint32_t n) {
  runtime_options o = scripted_on(n);
  o.custom = std::make_shared<const with_a_queue>();
  return o;
}

// A task on core 0 waits for its child on core 1, which is over while core 0, helping, is inside
// the task of another graph.
struct helped_meanwhile {
  runtime rt{with_a_queue_on(2)};
  std::atomic<bool> waits{false}, inside{false}, child_over{false}, other_seen{false};

  /// `other`: with a root bound to core 0 that calls in_other(). What comes after the wait runs in
  /// after().
  template <class After>
  void play(graph& other, After&& after) {
    graph g;
    g.add({.work = at(rt, 0, 1)}, [&](task_context& c) {
      batch b(c);
      b.add({.work = at(rt, 1, 1)}, [&] {
        waits.store(true);
        wait_until([&] { return inside.load(); });
        child_over.store(true);
      });
      b.wait();
      after();
    });
    execution outer = rt.submit(g);
    wait_until([&] { return waits.load(); });
    execution e = rt.submit(other);
    e.wait();
    other_seen.store(true);
    outer.wait();
  }
  void in_other() {
    inside.store(true);
    wait_until([&] { return child_over.load(); });
    // until the child is counted as done, so that the wait ends with this task
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
};

TEST(letting_go, the_last_task_of_another_graph_is_handed_in) {
  helped_meanwhile h;
  graph other;
  other.add({.work = at(h.rt, 0, 1)}, [&] { h.in_other(); });
  h.play(other, [&] { wait_until([&] { return h.other_seen.load(); }); });
}

TEST(letting_go, what_was_to_run_next_is_left_to_others) {
  helped_meanwhile h;
  graph other;
  std::atomic<bool> next_ran{false};
  const task first = other.add({.work = at(h.rt, 0, 1)}, [&] { h.in_other(); });
  other.edge(first, other.add([&] { next_ran.store(true); }));
  h.play(other, [&] { wait_until([&] { return next_ran.load(); }); });
}

TEST(letting_go, others_are_told_of_what_went_into_a_queue) {
  helped_meanwhile h;
  graph other;
  std::atomic<bool> queued_ran{false};
  const task first = other.add({.work = at(h.rt, 0, 1)}, [&] { h.in_other(); });
  other.edge(first, other.add({.work = into_the_queue}, [&] { queued_ran.store(true); }));
  h.play(other, [&] { wait_until([&] { return queued_ran.load(); }); });
}

// Its worker does not look into the queue before it has run the other one.
TEST(letting_go, others_are_told_before_the_next_body_runs) {
  runtime rt(with_a_queue_on(2));
  for (int i = 0; i < 50; ++i) {
    graph g;
    std::atomic<bool> queued_ran{false};
    const task first = g.add({.work = at(rt, 0, 1)}, [&] {
      // the other worker sleeps
      if (i % 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    g.edge(first, g.add({.work = into_the_queue}, [&] { queued_ran.store(true); }));
    g.edge(first,
           g.add({.work = to_run_next}, [&] { wait_until([&] { return queued_ran.load(); }); }));
    rt.run(g);
  }
}

// The same where what runs next was bound to this worker by another one.
TEST(letting_go, others_are_told_before_an_assembly_gets_the_worker) {
  runtime rt(with_a_queue_on(2));
  for (int i = 0; i < 50; ++i) {
    graph g, bound;
    std::atomic<bool> inside{false}, is_bound{false}, queued_ran{false};
    const task first = g.add({.work = at(rt, 0, 1)}, [&] {
      inside.store(true);
      wait_until([&] { return is_bound.load(); });
      // the other worker sleeps
      if (i % 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    g.edge(first, g.add({.work = into_the_queue}, [&] { queued_ran.store(true); }));
    const task binds = bound.add({.work = at(rt, 1, 1)}, [] {});
    bound.edge(binds, bound.add({.work = at(rt, 0, 1)},
                                [&] { wait_until([&] { return queued_ran.load(); }); }));
    bound.edge(binds, bound.add({.work = at(rt, 1, 1)}, [&] { is_bound.store(true); }));
    execution e = rt.submit(g);
    wait_until([&] { return inside.load(); });
    rt.run(bound);
    e.wait();
  }
}

/// Core 0 may be away, until it is back.
class cores_of_which_one_goes_away final : public detail::emulated_cores {
 public:
  std::atomic<bool> away{false};
  [[nodiscard]] double scale() const noexcept override { return 1.0; }
  [[nodiscard]] std::int64_t cpu_nanoseconds(core_id) noexcept override {
    return std::chrono::steady_clock::now().time_since_epoch().count();
  }
  [[nodiscard]] bool has_core(core_id c) noexcept override { return c != 0 || !away.load(); }
  void wait_for_core(core_id c) noexcept override {
    while (!has_core(c)) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
};

// The core goes away in the wide task that its worker ends. Of the others only the last may take
// from the queue.
TEST(letting_go, a_worker_that_waits_for_its_core_has_told_others) {
  cores_of_which_one_goes_away there;
  runtime_options o = scripted_on(4);
  o.custom = std::make_shared<const with_a_queue>(std::vector<core_id>{0, 3});
  runtime rt(o, detail::attachments{.emulated = &there});
  graph g;
  const task first = g.add({.work = at(rt, 0, 2)}, [&](team_member& me) {
    if (me.member() != 0) return;
    // the others sleep
    while (me.next_chunk(1)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    there.away.store(true);
  });
  g.edge(first, g.add({.work = into_the_queue}, [] {}));
  execution e = rt.submit(g);
  EXPECT_TRUE(e.wait_for(std::chrono::seconds(20)));
  there.away.store(false);
  e.wait();
}

// The wait ends somewhere in the middle of a row of bodies that take nanoseconds. If the row stayed
// open, what follows would be timed with it.
TEST(letting_go, a_row_of_short_tasks_is_closed) {
  runtime_options o = scripted_on(2);
  o.table = table_options::robust();
  runtime rt(o);
  std::atomic<std::uint64_t> ran{0}, here{0};
  std::atomic<bool> waits{false};
  graph many, inner, g;
  const task_type brief = many.type("brief");
  for (int i = 0; i < 20'000; ++i)
    many.add({.type = brief, .widths = std::array<std::uint32_t, 1>{1}}, [&](task_context& c) {
      ran.fetch_add(1);
      if (c.core() == 0) here.fetch_add(1);
    });
  inner.add({.work = at(rt, 1, 1)}, [&] {
    waits.store(true);
    wait_until([&] { return ran.load() > 1000; });
  });
  g.add({.work = at(rt, 0, 1)}, [&] {
    rt.run(inner);
    std::uint64_t learned = 0;
    for (const auto& row : rt.table())
      if (row.type == "brief" && row.where.leader == 0) learned = row.samples;
    EXPECT_EQ(learned, here.load());
  });
  rt.run(many);  // from here on they are known to be short
  for (int i = 0; i < 10; ++i) {
    ran.store(0);
    waits.store(false);
    execution waiting = rt.submit(g);
    wait_until([&] { return waits.load(); });
    rt.run(many);
    waiting.wait();
  }
}

// Taken is the one question of this policy, and the one place where it writes.
class remembers final : public policy {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "remembers"; }
  [[nodiscard]] discipline queues(const machine&) const override {
    discipline d;
    d.asks_take_low = d.asks_take_high = true;
    return d;
  }
  [[nodiscard]] take_decision on_take(task_ref t, core_id here, bool, view& v) const override {
    if (v.state(t).a != 0 || v.critical(t)) stale.fetch_add(1);
    v.set_state(t, {1, 0});
    v.set_critical(t, true);
    return {.where = v.machine().single(here)};
  }
  mutable std::atomic<int> stale{0};
};

TEST(second_runs, a_policy_that_writes_only_when_it_takes_finds_the_tasks_as_new) {
  auto p = std::make_shared<const remembers>();
  runtime_options o;
  o.machine = cores(1);
  o.custom = p;
  runtime rt(o);
  graph g;
  for (int i = 0; i < 10; ++i) g.add([] {});
  for (int run = 0; run < 3; ++run) rt.run(g);
  EXPECT_EQ(p->stale.load(), 0);
}

}  // namespace
}  // namespace kilter
