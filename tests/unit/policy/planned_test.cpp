// How planned policies carry their plan out, question by question.
#include "policy/planned.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "canonical.hpp"
#include "unit/policy/world.hpp"

namespace kilter {
namespace {

using testing::world;

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
