// What the engine does with the answers of a policy: small policies that give one answer each.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "sim/engine.hpp"
#include "unit/sim/world.hpp"

namespace kilter::sim {
namespace {

using test::add_chain;
using test::nothing;
using test::plain;
using test::works;

/// Looks into the queues of both workers, its own first.
class looks_around final : public policy {
 public:
  std::string_view name() const noexcept override { return "looks-around"; }
  discipline queues(const machine&) const override {
    discipline d;
    d.queues = {{0, queue_order::lifo, {0}}, {1, queue_order::lifo, {0, 1}}};
    d.asks_ready_low = d.asks_ready_high = d.asks_next = true;
    return d;
  }
  ready_decision on_ready(task_ref, task_ref parent, core_id, view&) const override {
    return ready_decision::wait_in(parent ? 0 : 1);
  }
  next_decision next(core_id worker, std::uint32_t attempt, view&) const override {
    if (attempt > 1 || (worker == 1 && attempt > 0)) return {};
    return {.what = next_decision::kind::take_from, .queue = attempt == 0 ? worker : 1};
  }
};

TEST(engine_answers, a_worker_that_is_given_something_where_it_has_just_looked_does_not_rest) {
  platform p = plain(2);
  p.costs.push_s = 1e-6;  // what a look costs
  // Core 1's task ends, and gives core 0 its successor, while core 0 looks: at some of these times
  // between its two looks.
  const std::vector<type_work> given = {{.kernel = {}, .given = true}};
  for (int tenths = -60; tenths < 60; ++tenths) {
    const std::vector<double> first(2, 20e-6), second(2, 20e-6 + tenths * 1e-7);
    graph g;
    g.add({.core_seconds = second}, nothing);
    // the later root is taken first, by core 1
    g.edge(g.add({.core_seconds = first}, nothing), g.add({.core_seconds = first}, nothing));
    engine e(p, {.policy = std::make_shared<looks_around>()});
    EXPECT_NO_THROW(e.run(g, given)) << tenths;
  }
}

/// Everything waits in core 1's deque. Core 0 answers `steal`; the others wait for what is bound to
/// them, which never comes.
class steals_by_name final : public policy {
 public:
  std::string_view name() const noexcept override { return "steals-by-name"; }
  discipline queues(const machine&) const override {
    discipline d;
    d.asks_ready_low = d.asks_ready_high = d.asks_next = true;
    d.steal_from = victims::cluster_first;
    d.cells = 2;
    return d;
  }
  ready_decision on_ready(task_ref, task_ref, core_id, view&) const override {
    return ready_decision::wait_in(1);
  }
  next_decision next(core_id worker, std::uint32_t attempt, view& v) const override {
    if (worker != 0) return {.what = next_decision::kind::hold_until, .until_s = v.now_s() + 1.0};
    if (v.length(1) == 0) return {};
    if (attempt > 0) v.fetch_add(0, 1);
    return {.what = next_decision::kind::steal};
  }
};

// As in the runtime, where `steal` has one meaning whoever says it.
TEST(engine_answers, an_answered_steal_visits_whom_the_discipline_names) {
  const platform p = plain(8, 4);
  graph g;
  for (int i = 0; i < 50; ++i) g.add(nothing);
  const auto asked = std::make_shared<steals_by_name>();
  engine e(p, {.policy = asked});
  const execution_stats s = e.run(g, works(g));
  EXPECT_EQ(s.steals, 50u);
  EXPECT_EQ(e.cells.load(0), 0u)
      << "tries that missed the one neighbour of its cluster, which had something";
}

/// Core 0 has short tasks in its deque. Core 1 holds for the last task, which comes after them;
/// something else waits for it all the time.
class holds_and_steals final : public policy {
 public:
  std::string_view name() const noexcept override { return "holds-and-steals"; }
  discipline queues(const machine&) const override {
    discipline d;
    d.queues = {{no_core, queue_order::fifo, {1}}};
    d.deques_too = true;
    d.asks_submit = d.asks_ready_low = d.asks_ready_high = d.asks_next = true;
    d.cells = 1;
    return d;
  }
  void on_submit(view& v) const override {
    v.store(0, v.word_of(v.batch_task(v.batch_size() - 1)));
  }
  ready_decision on_ready(task_ref t, task_ref parent, core_id, view& v) const override {
    return ready_decision::wait_in(parent || v.id(t) == 0 ? 2 : 0);
  }
  next_decision next(core_id, std::uint32_t, view& v) const override {
    if (v.length(2) > 0 && v.load(0) != 0)
      return {.what = next_decision::kind::hold_task, .task = v.task_of(v.load(0))};
    return {.what = next_decision::kind::take_from, .queue = 2};
  }
  take_decision on_take(task_ref t, core_id here, bool, view& v) const override {
    if (v.word_of(t) == v.load(0)) v.store(0, 0);
    return {.where = v.machine().single(here)};
  }
};

TEST(engine_answers, a_worker_with_a_deque_steals_while_it_holds_for_a_task) {
  const platform p = plain(2);
  graph g;
  g.add(nothing);
  std::vector<task> short_ones;
  for (int i = 0; i < 40; ++i) short_ones.push_back(g.add(nothing));
  const task last = g.add(nothing);
  for (const task t : short_ones) g.edge(t, last);
  engine e(p, {.policy = std::make_shared<holds_and_steals>()});
  const execution_stats s = e.run(g, works(g), 0);
  EXPECT_EQ(s.tasks, 42u);
  EXPECT_GT(s.steals, 10u) << "core 1 did nothing but wait";
}

/// Core 0 owns the queue, core 1 alone takes from it.
class owned_by_another final : public policy {
 public:
  std::string_view name() const noexcept override { return "owned-by-another"; }
  discipline queues(const machine&) const override {
    discipline d;
    d.queues = {{0, queue_order::fifo, {1}}};
    return d;
  }
};

TEST(engine_answers, what_is_taken_from_the_declared_queue_of_another_is_stolen) {
  const platform p = plain(2);
  graph g;
  add_chain(g, 10);
  engine e(p, {.policy = std::make_shared<owned_by_another>()});
  EXPECT_EQ(e.run(g, works(g)).steals, 10u);
}

/// Asked about nothing but taken tasks, and writes there (tests/unit/runtime/letting_go_test.cpp
/// has the same on threads).
class remembers final : public policy {
 public:
  std::string_view name() const noexcept override { return "remembers"; }
  discipline queues(const machine&) const override {
    discipline d;
    d.asks_take_low = d.asks_take_high = true;
    return d;
  }
  take_decision on_take(task_ref t, core_id here, bool, view& v) const override {
    if (v.state(t).a != 0 || v.critical(t)) ++stale;
    v.set_state(t, {1, 0});
    v.set_critical(t, true);
    return {.where = v.machine().single(here)};
  }
  mutable int stale = 0;
};

TEST(engine_answers,
     in_a_second_run_a_policy_that_writes_only_when_it_takes_finds_the_tasks_as_new) {
  const platform p = plain(1);
  const auto probe = std::make_shared<const remembers>();
  graph g;
  add_chain(g, 10);
  engine e(p, {.policy = probe});
  for (int run = 0; run < 3; ++run) EXPECT_EQ(e.run(g, works(g)).tasks, 10u);
  EXPECT_EQ(probe->stale, 0);
}

}  // namespace
}  // namespace kilter::sim
