// Plans as numbers: the published example to the last digit, ties, and what must hold of every
// plan; and how planned policies carry their plan out, question by question.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.hpp"
#include "canonical.hpp"
#include "policy/plan_parts.hpp"
#include "policy/planned.hpp"
#include "policy/planner.hpp"
#include "unit/policy/world.hpp"

namespace kilter::planner {
namespace {

// ---- plans --------------------------------------------------------------------------------------

constexpr double cannot = std::numeric_limits<double>::infinity();

struct random_graph {
  std::vector<double> seconds;
  std::vector<plan_edge> edges;
  std::uint32_t tasks, processors;
  [[nodiscard]] plan_input input() const { return {tasks, processors, seconds, edges}; }
};
/// Whole numbers, many of them equal and some 0, so that there are ties and tasks of no length.
random_graph random_dag(std::uint64_t seed, std::uint32_t tasks, std::uint32_t processors) {
  random_stream r(seed, "plan");
  random_graph g{.seconds = {}, .edges = {}, .tasks = tasks, .processors = processors};
  for (std::uint32_t i = 0; i < tasks * processors; ++i) g.seconds.push_back(r.below(6));
  for (std::uint32_t to = 1; to < tasks; ++to)
    for (std::uint32_t from = to > 12 ? to - 12 : 0; from < to; ++from)
      if (r.below(5) == 0) g.edges.push_back({from, to, static_cast<double>(r.below(7))});
  return g;
}

void expect_possible(const plan_input& in, const plan& p) {
  ASSERT_EQ(p.order.size(), in.tasks);
  double last_s = 0.0;
  for (std::uint32_t t = 0; t < in.tasks; ++t) {
    ASSERT_LT(p.processor[t], in.processors);
    EXPECT_EQ(p.end_s[t], p.start_s[t] + in.seconds[t * in.processors + p.processor[t]]);
    last_s = std::max(last_s, p.end_s[t]);
  }
  EXPECT_EQ(p.makespan_s, last_s);
  for (const plan_edge& e : in.edges)
    EXPECT_LE(p.end_s[e.from] + (p.processor[e.from] == p.processor[e.to] ? 0.0 : e.cost_s),
              p.start_s[e.to])
        << e.from << " before " << e.to;
  for (std::uint32_t a = 0; a < in.tasks; ++a)
    for (std::uint32_t b = 0; b < a; ++b)
      EXPECT_TRUE(p.processor[a] != p.processor[b] || p.end_s[a] <= p.start_s[b] ||
                  p.end_s[b] <= p.start_s[a])
          << a << " and " << b << " at once";
}

void expect_schedule(const plan& p, const std::array<canonical::span_of_task, 10>& expected) {
  for (std::uint32_t t = 0; t < 10; ++t) {
    EXPECT_EQ(p.processor[t], expected[t].processor) << "task " << t + 1;
    EXPECT_EQ(p.start_s[t], expected[t].start_s) << "task " << t + 1;
    EXPECT_EQ(p.end_s[t], expected[t].end_s) << "task " << t + 1;
  }
}
std::vector<std::uint32_t> numbered(std::vector<std::uint32_t> from_one) {
  for (std::uint32_t& t : from_one) --t;
  return from_one;
}
void expect_ranks(const std::vector<double>& ranks, const std::array<double, 10>& expected) {
  for (std::uint32_t t = 0; t < 10; ++t)
    EXPECT_NEAR(ranks[t], expected[t], 0.0005) << "task " << t + 1;
}

constexpr std::array<double, 10> upward = {108.000, 77.000, 80.000, 80.000, 69.000,
                                           63.333,  42.667, 35.667, 44.333, 14.667};

TEST(heft, plans_the_published_example) {
  const canonical::example e;
  const plan p = heft(e.input());
  expect_ranks(p.upward_s, upward);
  EXPECT_EQ(p.order, numbered({1, 3, 4, 2, 5, 6, 9, 7, 8, 10}))
      << "3 before 4, whose ranks are equal";
  expect_schedule(p, canonical::heft_schedule);
  EXPECT_EQ(p.makespan_s, 80.0);
  EXPECT_EQ(heft(canonical::mistyped().input()).makespan_s, 87.0);
}

TEST(cpop, plans_the_published_example) {
  const canonical::example e;
  const plan p = cpop(e.input());
  expect_ranks(p.upward_s, upward);
  expect_ranks(p.downward_s, {0, 31, 25, 22, 24, 27, 62.333, 66.667, 63.667, 93.333});
  EXPECT_EQ(p.critical_path, numbered({1, 2, 9, 10}));
  EXPECT_EQ(p.critical_processor, 1u) << "66, 54 and 63 on the three";
  EXPECT_EQ(p.order, numbered({1, 2, 3, 7, 4, 5, 9, 6, 8, 10}));
  expect_schedule(p, canonical::cpop_schedule);
  EXPECT_EQ(p.makespan_s, 86.0);
  EXPECT_EQ(cpop(canonical::mistyped().input()).makespan_s, 84.0);
}

TEST(plans, ties_go_to_the_lower_index) {
  const std::vector<double> equal(12, 2.0);
  for (const auto planner : {heft, cpop}) {
    const plan p = planner({4, 3, equal, {}});
    EXPECT_EQ(p.order, (std::vector<std::uint32_t>{0, 1, 2, 3}));
    EXPECT_EQ(p.processor, (std::vector<std::uint32_t>{0, 1, 2, 0}));
    // Two equal successors, two equal critical paths: the first of each.
    const std::vector<plan_edge> fork = {{0, 2, 1.0}, {0, 1, 1.0}};
    const plan q = planner({3, 3, std::span(equal).first(9), fork});
    EXPECT_EQ(q.order, (std::vector<std::uint32_t>{0, 1, 2}));
    EXPECT_EQ(q.processor[1], 0u);
    EXPECT_EQ(q.critical_path,
              (planner == cpop ? std::vector<std::uint32_t>{0, 1} : std::vector<std::uint32_t>{}));
  }
}

TEST(plans, a_later_task_uses_a_gap_before_earlier_ones) {
  // 0 on processor 0, then 1, whose data come late; 2 has the lowest rank and fits between them.
  const std::vector<double> seconds = {2, 100, 4, 100, 3, 100, 0, 50};
  const std::vector<plan_edge> edges = {{3, 1, 5.0}};
  const std::vector<double> only_there = {2, 100, 4, 100, 3, 100, cannot, 1};
  const plan p = heft({4, 2, only_there, edges});
  expect_possible({4, 2, only_there, edges}, p);
  EXPECT_EQ(p.start_s[1], 6.0);
  EXPECT_EQ(p.processor[2], 0u);
  EXPECT_LE(p.end_s[2], 6.0) << "before task 1, which was placed first";
}

TEST(plans, are_possible_whatever_the_graph) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const random_graph g = random_dag(seed, 60, 1 + static_cast<std::uint32_t>(seed % 5));
    expect_possible(g.input(), heft(g.input()));
    expect_possible(g.input(), cpop(g.input()));
  }
}

TEST(plans, put_nothing_where_it_cannot_run) {
  random_graph g = random_dag(7, 60, 3);
  for (std::uint32_t t = 0; t < 60; ++t) g.seconds[t * 3 + t % 3] = cannot;
  for (const auto planner : {heft, cpop}) {
    const plan p = planner(g.input());
    expect_possible(g.input(), p);
    for (std::uint32_t t = 0; t < 60; ++t) EXPECT_NE(p.processor[t], t % 3);
  }
  EXPECT_EQ(cpop(g.input()).critical_processor, plan::nowhere)
      << "no processor can run the whole path";
}

TEST(plans, of_nothing_and_of_one_task) {
  for (const auto planner : {heft, cpop}) {
    EXPECT_EQ(planner({0, 2, {}, {}}).makespan_s, 0.0);
    const std::vector<double> one = {3.0, 2.0};
    EXPECT_EQ(planner({1, 2, one, {}}).processor[0], 1u);
  }
}

TEST(plans, do_not_need_tasks_in_an_order_of_the_edges) {
  const std::vector<double> seconds(6, 1.0);
  const std::vector<plan_edge> backwards = {{2, 1, 0.0}, {1, 0, 0.0}};
  for (const auto planner : {heft, cpop})
    EXPECT_EQ(planner({3, 2, seconds, backwards}).order, (std::vector<std::uint32_t>{2, 1, 0}));
}

// The search by time and by blocks against looking at every gap.
TEST(gaps, are_found_as_by_looking_at_all_of_them) {
  random_stream r(3, "gaps");
  timeline quick;
  std::vector<std::pair<double, double>> gaps{{0.0, cannot}};
  for (int i = 0; i < 3000; ++i) {
    const double ready_s = r.below(40000), seconds = r.below(i % 2 ? 12 : 3);
    double expected_s = 0.0;
    for (const auto& [begin, end] : gaps) {
      expected_s = std::max(begin, ready_s);
      if (expected_s + seconds <= end) break;
    }
    ASSERT_EQ(quick.earliest(ready_s, seconds), expected_s) << "after " << i;
    quick.take(expected_s, expected_s + seconds);
    std::vector<std::pair<double, double>> left;
    for (const auto& [begin, end] : gaps) {
      const bool in_it = begin <= expected_s && expected_s + seconds <= end;
      if (!in_it) left.emplace_back(begin, end);
      if (in_it && begin < expected_s) left.emplace_back(begin, expected_s);
      if (in_it && expected_s + seconds < end) left.emplace_back(expected_s + seconds, end);
    }
    gaps = left;
  }
  EXPECT_GT(gaps.size(), 100u) << "more than a block of them";
}

}  // namespace
}  // namespace kilter::planner

namespace kilter {
namespace {

// ---- carried out --------------------------------------------------------------------------------

using test::world;

/// Three cores; task i of the published example is `tasks[i]`.
struct example_world : world {
  explicit example_world(bool with_costs = true) : world(machine::uniform(3, 3)) {
    const canonical::example e;
    for (std::uint32_t i = 0; i < 10; ++i) {
      task_options o;
      o.core_seconds =
          with_costs ? std::span(e.seconds).subspan(i * 3, 3) : std::span<const double>{};
      const task t = g.add(o, [](team_member&) {});
      detail::node* n = detail::task_access::get(t);
      detail::graph_of(n).kinds[n->kind].row = tables.row("task", 0);
      source.batch.push_back(detail::ref(n));
      tasks.push_back(t);
    }
    for (const auto& edge : e.edges) g.edge(tasks[edge.from], tasks[edge.to], edge.cost_s);
  }
  /// The number of the task that a core holds for, from 1 as published; 0 if for none.
  std::uint64_t held(const policy& p, core_id c) {
    detail::asked_view v = at(c);
    const next_decision d = p.next(c, 0, v);
    return d.what == next_decision::kind::hold_task ? v.id(d.task) + 1 : 0;
  }
  void take_held(const policy& p, core_id c) {
    detail::asked_view v = at(c);
    const next_decision d = p.next(c, 0, v);
    EXPECT_EQ(m.at(p.on_take(d.task, c, false, v).where), (place{c, 1}));
  }
  std::vector<std::uint64_t> whole_list(const policy& p, core_id c) {
    std::vector<std::uint64_t> all;
    for (; held(p, c) != 0; take_held(p, c)) all.push_back(held(p, c));
    return all;
  }
  std::vector<task> tasks;
};

using list = std::vector<std::uint64_t>;

TEST(planned, each_core_holds_for_its_tasks_in_the_order_of_the_plan) {
  example_world w;
  const auto p = make_policy("heft", w.m);
  EXPECT_EQ(w.held(*p, 0), 0u) << "without a plan there is nothing to hold for";
  w.submit(*p);
  for (std::uint32_t t = 0; t < 10; ++t) {
    const ready_decision d = w.ready(*p, w.tasks[t], {}, 0);
    EXPECT_EQ(d.what, ready_decision::kind::queue);
    EXPECT_EQ(d.queue, canonical::heft_schedule[t].processor);
  }
  EXPECT_EQ(w.whole_list(*p, 0), (list{2, 8}));
  EXPECT_EQ(w.whole_list(*p, 1), (list{4, 6, 9, 10}));
  EXPECT_EQ(w.whole_list(*p, 2), (list{1, 3, 5, 7}));
}

TEST(planned, a_core_that_goes_leaves_its_tasks_to_the_others_in_the_order_of_the_plan) {
  example_world w;
  const auto p = make_policy("heft", w.m);
  w.submit(*p);
  w.take_held(*p, 2);
  w.source.up[1] = false;
  detail::asked_view v = w.at(0);
  p->on_machine(v);
  EXPECT_EQ(w.held(*p, 1), 0u);
  list both = w.whole_list(*p, 0);
  const list second = w.whole_list(*p, 2);
  const list planned_order{1, 3, 4, 6, 2, 5, 7, 9, 8, 10};  // by start
  const auto in_order = [&](const list& l) {
    return std::ranges::is_sorted(l, {}, [&](std::uint64_t t) {
      return std::ranges::find(planned_order, t) - planned_order.begin();
    });
  };
  EXPECT_TRUE(in_order(both) && in_order(second));
  both.insert(both.end(), second.begin(), second.end());
  std::ranges::sort(both);
  EXPECT_EQ(both, (list{2, 3, 4, 5, 6, 7, 8, 9, 10})) << "all but the one that was taken";
}

TEST(planned, with_no_core_left_the_plan_waits) {
  example_world w;
  const auto p = make_policy("cpop", w.m);
  w.submit(*p);
  w.source.up.assign(3, false);
  detail::asked_view v = w.at(0);
  p->on_machine(v);
  w.source.up[0] = true;
  p->on_machine(v);
  EXPECT_EQ(w.whole_list(*p, 0).size(), 10u);
}

TEST(planned, a_core_that_is_away_at_the_start_gets_nothing) {
  example_world w;
  w.source.up[1] = false;
  const auto p = make_policy("heft", w.m);
  w.submit(*p);
  EXPECT_EQ(w.held(*p, 1), 0u);
  EXPECT_EQ(w.whole_list(*p, 0).size() + w.whole_list(*p, 2).size(), 10u);
}

TEST(planned, learned_times_stand_in_for_costs_that_nobody_gave) {
  example_world w(false);
  for (const place& where : w.m.places()) w.set(where, where.leader == 1 ? 1.0 : 50.0);
  const auto p = make_policy("heft", w.m);
  w.submit(*p);
  EXPECT_EQ(w.whole_list(*p, 1).size(), 10u) << "fifty times as fast is worth waiting for";
}

TEST(planned, of_what_nobody_knows_the_work_counts) {
  world w(machine::uniform(2, 2));
  for (const double work : {4.0, 1.0, 1.0, 1.0}) {
    const task t = w.g.add({.work = work}, [](team_member&) {});
    w.source.batch.push_back(world::ref(t));
    (void)w.tables.row("task", 0);
  }
  const auto p = make_policy("heft", w.m);
  w.submit(*p);
  for (std::uint32_t t = 0; t < 4; ++t) {
    detail::asked_view v = w.at(0);
    EXPECT_EQ(p->on_ready(w.source.batch[t], {}, 0, v).queue, t == 0 ? 0u : 1u);
  }
}

// One plan at a time: heads are one a core, and tasks of the first graph must not wait behind those
// of the second.
TEST(planned, a_graph_that_comes_meanwhile_goes_where_it_ends_first) {
  example_world w;
  const auto p = make_policy("heft", w.m);
  w.submit(*p);
  const std::vector<task_ref> first = w.source.batch;
  const double fast_on_the_second[] = {9.0, 1.0, 9.0};
  const task other = w.g.add({.core_seconds = fast_on_the_second}, [](team_member&) {});
  w.source.batch = {world::ref(other)};
  w.submit(*p);
  EXPECT_EQ(w.held(*p, 2), 1u) << "the first plan stands";
  const ready_decision d = w.ready(*p, other, {}, 0);
  EXPECT_EQ(d.what, ready_decision::kind::bind);
  EXPECT_EQ(w.m.at(d.where), (place{1, 1}));
  EXPECT_EQ(d.busy_s, 1.0) << "so that the next one knows of it";
  for (const core_id c : {0u, 1u, 2u}) (void)w.whole_list(*p, c);
  w.submit(*p);
  EXPECT_EQ(w.held(*p, 1), 11u) << "the first plan is carried out, so there is room for another";
}

TEST(planned, tasks_added_by_a_running_task_are_not_planned) {
  example_world w;
  const auto p = make_policy("heft", w.m);
  w.source.whole = false;
  w.submit(*p);
  for (const core_id c : {0u, 1u, 2u}) EXPECT_EQ(w.held(*p, c), 0u);
  EXPECT_EQ(w.ready(*p, w.tasks[0], {}, 0).what, ready_decision::kind::bind);
}

}  // namespace
}  // namespace kilter
