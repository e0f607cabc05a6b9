// What the engine does with the answers of a policy: small policies that give one answer each; and
// plans as executed, which on the ideal machine are exactly what was planned, and come to the end
// whatever cores do.

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "base/random.hpp"
#include "canonical.hpp"
#include "sim/engine.hpp"
#include "sim/ideal_platform.hpp"
#include "unit/sim/world.hpp"

namespace kilter::sim {
namespace {

using namespace test;

// ---- answers ------------------------------------------------------------------------------------

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

// ---- plans --------------------------------------------------------------------------------------

void add(graph& g, const planner::plan_input& in) {
  std::vector<task> tasks;
  for (std::uint32_t t = 0; t < in.tasks; ++t)
    tasks.push_back(
        g.add({.core_seconds = in.seconds.subspan(std::size_t{t} * in.processors, in.processors)},
              nothing));
  for (const planner::plan_edge& e : in.edges) g.edge(tasks[e.from], tasks[e.to], e.cost_s);
}

struct executed {
  execution_stats stats;
  std::vector<double> start_s, end_s;
  std::vector<core_id> core;
};
executed execute(const std::string& policy, const planner::plan_input& in,
                 std::vector<disturbance> disturbed = {}, double true_costs_over_s = 0.0) {
  const std::vector<std::string> names(in.processors, "P");
  const platform p = ideal_platform(in.processors == 3 ? three : names);
  executed x{{},
             std::vector<double>(in.tasks),
             std::vector<double>(in.tasks),
             std::vector<core_id>(in.tasks)};
  engine_options o = with(policy, p);
  o.disturbances = std::move(disturbed);
  o.true_costs_over_s = true_costs_over_s;
  o.finished = [&](const sim_assembly& a, core_id c) {
    const auto t = detail::id_of(a.task);
    x.start_s[t] = a.came_s.front();
    x.end_s[t] = a.came_s.front() + a.times.front().seconds;
    x.core[t] = c;
  };
  engine e(p, o);
  graph g;
  add(g, in);
  x.stats = e.run(g, {{.kernel = {}, .given = true}});
  return x;
}

void expect_as_planned(const executed& x, const std::array<canonical::span_of_task, 10>& plan) {
  for (std::uint32_t t = 0; t < 10; ++t) {
    EXPECT_EQ(x.core[t], plan[t].processor) << "task " << t + 1;
    EXPECT_NEAR(x.start_s[t], plan[t].start_s, 1e-9) << "task " << t + 1;
    EXPECT_NEAR(x.end_s[t], plan[t].end_s, 1e-9) << "task " << t + 1;
  }
}

TEST(planned_runs, of_the_published_example_take_what_was_planned) {
  const canonical::example e;
  const executed heft = execute("heft", e.input()), cpop = execute("cpop", e.input());
  EXPECT_EQ(heft.stats.seconds, 80.0);
  EXPECT_EQ(cpop.stats.seconds, 86.0);
  expect_as_planned(heft, canonical::heft_schedule);
  expect_as_planned(cpop, canonical::cpop_schedule);
  EXPECT_GT(heft.stats.plan_s, 0.0);
  const canonical::example m = canonical::mistyped();
  EXPECT_EQ(execute("heft", m.input()).stats.seconds, 87.0);
  EXPECT_EQ(execute("cpop", m.input()).stats.seconds, 84.0);
}

struct random_graph {
  std::vector<double> seconds;
  std::vector<planner::plan_edge> edges;
};
random_graph random_dag(std::uint64_t seed, std::uint32_t tasks, std::uint32_t processors) {
  random_stream r(seed, "planned runs");
  random_graph g;
  for (std::uint32_t i = 0; i < tasks * processors; ++i) g.seconds.push_back(r.below(6));
  for (std::uint32_t to = 1; to < tasks; ++to)
    for (std::uint32_t from = to > 12 ? to - 12 : 0; from < to; ++from)
      if (r.below(5) == 0) g.edges.push_back({from, to, static_cast<double>(r.below(7))});
  return g;
}

TEST(planned_runs, of_any_graph_take_what_was_planned) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const random_graph g = random_dag(seed, 80, 4);
    const planner::plan_input in{80, 4, g.seconds, g.edges};
    EXPECT_NEAR(execute("heft", in).stats.seconds, planner::heft(in).makespan_s, 1e-9)
        << "seed " << seed;
    EXPECT_NEAR(execute("cpop", in).stats.seconds, planner::cpop(in).makespan_s, 1e-9)
        << "seed " << seed;
  }
}

// A core goes in the middle, for good or for a while, alone or with another; all tasks are run,
// each after what it waits for.
TEST(planned_runs, end_though_cores_come_and_go) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const random_graph g = random_dag(seed, 60, 3);
    const planner::plan_input in{60, 3, g.seconds, g.edges};
    random_stream r(seed, "cores");
    for (const char* policy : {"heft", "cpop"}) {
      std::vector<disturbance> parts;
      for (core_id c = 0; c < 3; ++c) {
        const double from_s = r.below(60);
        parts.push_back({.what = disturbance::kind::offline,
                         .cores = {c},
                         .from_s = from_s,
                         .to_s = from_s + 1 + r.below(60)});
      }
      parts.push_back({.what = disturbance::kind::offline,
                       .cores = {static_cast<core_id>(r.below(3))},
                       .from_s = 20.0 + r.below(40)});
      const executed x = execute(policy, in, parts);
      EXPECT_EQ(x.stats.tasks, 60u);
      for (const planner::plan_edge& e : g.edges)
        EXPECT_LE(x.end_s[e.from], x.start_s[e.to] + 1e-9) << policy << " seed " << seed;
    }
  }
}

// papers.md E54: with true costs the plan avoids a core that is slow all the time; with stale ones
// it does not know.
TEST(planned_runs, are_better_with_true_costs) {
  const canonical::example e;
  const std::vector<disturbance> slow = {
      {.what = disturbance::kind::capacity, .cores = {1}, .left = 0.1}};
  const double stale_s = execute("heft", e.input(), slow).stats.seconds,
               true_s = execute("heft", e.input(), slow, 100.0).stats.seconds;
  EXPECT_GT(stale_s, 200.0);
  EXPECT_LT(true_s, 130.0);
}

}  // namespace
}  // namespace kilter::sim
