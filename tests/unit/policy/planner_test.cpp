// Plans as numbers: the published example to the last digit, ties, and what must hold of every
// plan.
#include "policy/planner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.hpp"
#include "canonical.hpp"
#include "policy/plan_parts.hpp"

namespace kilter::planner {
namespace {

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
