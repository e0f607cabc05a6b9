// Searches of the trace table: what a task pays if one of them picks the wrong place.

#include "policy/search.hpp"

#include <array>
#include <utility>

#include "kilter/error.hpp"

#include "unit/policy/world.hpp"

namespace kilter {
namespace {

using test::world;

place global(world& w, task t, objective goal, search::widths which = search::widths::all) {
  detail::asked_view v = w.at(0);
  return w.m.at(search::global(v, world::ref(t), goal, which));
}
place local(world& w, task t, core_id here,
            policy_options::local which = policy_options::local::containing) {
  detail::asked_view v = w.at(here);
  return w.m.at(search::local(v, world::ref(t), here, which));
}

TEST(global_search, minimises_cost_or_time) {
  world w(test::two_kinds(2, 4));
  const task t = w.add();
  w.set_all(10.0);
  w.set({3, 1}, 4.0);
  w.set({0, 2}, 2.5);
  EXPECT_EQ(global(w, t, objective::cost), (place{3, 1}));
  EXPECT_EQ(global(w, t, objective::time), (place{0, 2}));
  EXPECT_EQ(global(w, t, objective::time, search::widths::one), (place{3, 1}));
}

// papers.md D16. Watts of a place count for all its members, so a wide place can win by time and
// lose by energy.
TEST(global_search, minimises_energy_or_edp_of_the_watts_that_are_given) {
  world w(test::two_kinds(2, 4));
  const task t = w.add();
  w.set_all(10.0);
  w.set({0, 1}, 2.0);
  w.set({2, 1}, 4.0);
  policy_options o;
  o.watts.assign(w.m.places().size(), 9.0);
  o.watts[w.id({0, 1})] = 5.0;  // 10 J, 20 Js
  o.watts[w.id({2, 1})] = 2.0;  // 8 J, 32 Js
  detail::asked_view v = w.at(0);
  for (const auto& [goal, expected] : {std::pair{objective::energy, place{2, 1}},
                                       {objective::edp, place{0, 1}},
                                       {objective::time, place{0, 1}}}) {
    o.minimise = goal;
    EXPECT_EQ(w.m.at(search::global(v, world::ref(t), search::aim(o, objective::cost))), expected);
    for (const char* name : {"dam-c", "da"}) {
      const auto p = make_policy(name, w.m, o);
      EXPECT_EQ(w.m.at(w.ready(*p, w.add(true), t, 1).where), expected) << name;
    }
  }
  o.minimise = objective::energy;
  EXPECT_EQ(w.take(*make_policy("rwsm-c", w.m, o), t, 0), (place{0, 1}))
      << "of the places around the core";
  o.watts.pop_back();
  EXPECT_THROW((void)make_policy("dam-c", w.m, o), input_error);
}

// papers.md E13. Costs are equal where time x width is; powers of two keep the products exact.
TEST(global_search, ties_go_to_the_smaller_width_then_to_the_lower_leader) {
  world w(test::two_kinds(2, 4));
  const task t = w.add();
  for (const place& p : w.m.places()) w.set(p, 8.0 / p.width);
  EXPECT_EQ(global(w, t, objective::cost), (place{0, 1}));
  w.set({0, 1}, 9.0);
  EXPECT_EQ(global(w, t, objective::cost), (place{1, 1}))
      << "(0,2) comes earlier in the scan, but is wider";
  for (core_id c = 1; c < 6; ++c) w.set({c, 1}, 9.0);
  EXPECT_EQ(global(w, t, objective::cost), (place{0, 2}));
  w.set({0, 2}, 9.0);
  EXPECT_EQ(global(w, t, objective::cost), (place{2, 2}));
  for (const place& p : w.m.places()) w.set(p, 3.0);
  EXPECT_EQ(global(w, t, objective::time), (place{0, 1}));
}

// papers.md A1.1 and E1: core ascending, then width ascending, each unexplored place at once.
TEST(global_search, explores_first_in_scan_order) {
  world w(test::two_kinds(2, 4));
  const task t = w.add();
  const std::vector<place> expected = {{0, 1}, {0, 2}, {1, 1}, {2, 1}, {2, 2},
                                       {2, 4}, {3, 1}, {4, 1}, {4, 2}, {5, 1}};
  for (const place& p : expected) {
    EXPECT_EQ(global(w, t, objective::cost), p);
    w.set(p, 1.0);
  }
  EXPECT_EQ(global(w, t, objective::cost), (place{0, 1})) << "nothing is left to explore";
}

TEST(global_search, an_unexplored_place_does_not_beat_the_scan_when_exploration_is_off) {
  table_options o;
  o.explore_first = false;
  world w(test::two_kinds(2, 4), o);
  const task t = w.add();
  if (w.tables.time_s(w.tables.row("task", 0), 0) != 0.0) GTEST_SKIP() << "this table has a prior";
  w.set_all(5.0);
  w.set({4, 2}, 1e-9);
  EXPECT_EQ(global(w, t, objective::cost), (place{4, 2}));
}

TEST(global_search, keeps_to_the_widths_that_the_task_allows) {
  world w(test::two_kinds(2, 4));
  const std::array<std::uint32_t, 1> two{2};
  const task t = w.add(true, two);
  w.set_all(1.0);
  w.set({4, 2}, 0.5);
  EXPECT_EQ(global(w, t, objective::cost), (place{4, 2}));
  EXPECT_EQ(global(w, t, objective::time, search::widths::one), (place{4, 2}))
      << "single cores are not allowed";
}

TEST(global_search, avoids_cores_that_are_offline) {
  world w(test::two_kinds(2, 4));
  const task t = w.add();
  w.set_all(8.0);
  w.set({2, 2}, 1.0);
  w.source.up[3] = false;
  detail::asked_view v = w.at(0);
  search::note_offline(v);
  EXPECT_EQ(global(w, t, objective::time), (place{0, 1})) << "(2,2) needs core 3";
  w.source.up[3] = true;
  search::note_offline(v);
  EXPECT_EQ(global(w, t, objective::time), (place{2, 2}));
}

// papers.md E55: core 3 is in (2,2) and (2,4), but leads only (3,1).
TEST(local_search, sees_the_places_that_contain_the_core_or_those_it_leads) {
  world w(test::two_kinds(2, 4));
  const task t = w.add();
  w.set_all(8.0);
  w.set({2, 2}, 2.0);
  EXPECT_EQ(local(w, t, 3), (place{2, 2}));
  EXPECT_EQ(local(w, t, 3, policy_options::local::row), (place{3, 1}));
  EXPECT_EQ(local(w, t, 2, policy_options::local::row), (place{2, 2}));
  EXPECT_EQ(local(w, t, 3, policy_options::local::x19), (place{2, 4}))
      << "the slip: whatever was learned";
  EXPECT_EQ(local(w, t, 2, policy_options::local::x19), local(w, t, 2))
      << "the first of a cluster reads its own row";
  EXPECT_EQ(local(w, t, 0), (place{0, 1})) << "other clusters are out of reach";
}

TEST(local_search, minimises_cost_with_ties_to_the_smaller_width_and_explores_narrow_first) {
  world w(machine::uniform(4));
  const task t = w.add();
  EXPECT_EQ(local(w, t, 1), (place{1, 1}));
  w.set({1, 1}, 8.0);
  EXPECT_EQ(local(w, t, 1), (place{0, 2}));
  w.set({0, 2}, 4.0);
  EXPECT_EQ(local(w, t, 1), (place{0, 4}));
  w.set({0, 4}, 2.0);
  EXPECT_EQ(local(w, t, 1), (place{1, 1})) << "all cost 8";
  w.set({0, 4}, 1.5);
  EXPECT_EQ(local(w, t, 1), (place{0, 4}));
}

// papers.md E2: one draw decides whether this search refreshes, a second one where.
TEST(local_search, takes_a_random_place_now_and_then_if_the_table_says_so) {
  table_options o;
  o.refresh_every = 10;
  world w(machine::uniform(4), o);
  const task t = w.add();
  w.set_all(1.0);
  w.source.draw = 10 * 3 + 2;  // 2 of 10: no refresh
  EXPECT_EQ(local(w, t, 1), (place{1, 1}));
  w.source.draw = 10 * 2;  // 0 of 10: refresh, with place 20 % 3 = 2
  EXPECT_EQ(local(w, t, 1), (place{0, 4}));
}

TEST(narrowest, finds_a_place_even_where_the_core_is_in_none_that_is_allowed) {
  world w(test::two_kinds(2, 4));
  const std::array<std::uint32_t, 1> four{4};
  const task t = w.add(false, four);
  detail::asked_view v = w.at(0);
  EXPECT_EQ(w.m.at(search::narrowest(v, world::ref(t), 0)), (place{2, 4}));
  EXPECT_EQ(w.m.at(search::local(v, world::ref(t), 0, policy_options::local::containing)),
            (place{2, 4}));
}

}  // namespace
}  // namespace kilter
