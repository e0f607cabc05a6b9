// Plans as executed: on the ideal machine exactly what was planned, and to the end whatever cores
// do.
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "canonical.hpp"
#include "sim/engine.hpp"
#include "sim/ideal_platform.hpp"
#include "unit/sim/world.hpp"

namespace kilter::sim {
namespace {

using test::nothing;
using test::three;

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
  engine_options o = test::with(policy, p);
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
