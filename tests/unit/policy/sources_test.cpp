// The sources of the critical flag that go beyond S2's: fanout, ranks, online. (hops:
// cats_test.cpp; the others: labels_test.cpp)

#include <algorithm>
#include <set>

#include "base/random.hpp"
#include "policy/labels.hpp"
#include "unit/policy/units.hpp"
#include "unit/policy/world.hpp"

namespace kilter {
namespace {

using testing::world;

using test::us;

void submit(world& w, criticality source) {
  detail::graph_access::core(w.g).index_predecessors();
  detail::asked_view v = w.at(0);
  labels::rule(source).on_submit(v);
}
bool ready(world& w, criticality source, task t, task parent = {}) {
  detail::asked_view v = w.at(0);
  labels::rule(source).on_ready(world::ref(t), world::ref(parent), v);
  return w.critical(t);
}

TEST(fanout, flags_what_releases_more_tasks_than_the_mean_and_at_least_two) {
  world w(machine::uniform(2));
  const task root = w.add(), head = w.add(), narrow = w.add();
  for (const task t : {head, narrow, w.add()}) w.g.edge(root, t);
  for (int i = 0; i < 2; ++i) w.g.edge(head, w.add());
  w.g.edge(narrow, w.add());
  submit(w, criticality::fanout);  // 7 tasks, 6 edges
  EXPECT_TRUE(w.critical(root));
  EXPECT_TRUE(w.critical(head));
  EXPECT_FALSE(w.critical(narrow)) << "one successor is above the mean, but not many";

  world chain(machine::uniform(2));
  task last = chain.add(true);
  for (int i = 0; i < 5; ++i) {
    const task t = chain.add(true);
    chain.g.edge(last, t);
    last = t;
  }
  submit(chain, criticality::fanout);
  for (const task_ref t : chain.source.batch) {
    detail::asked_view v = chain.at(0);
    EXPECT_FALSE(v.critical(t)) << "and the user's flags do not count";
  }
}

/// a to b or to c, and both to d; c's way is a task longer.
struct two_ways {
  world w{machine::uniform(2)};
  task a = w.add(), b = w.add(false, {}, "b"), c = w.add(false, {}, "c"), more = w.add(),
       d = w.add();
  two_ways() {
    for (const auto& [from, to] : {std::pair{a, b}, {b, d}, {a, c}, {c, more}, {more, d}})
      w.g.edge(from, to);
  }
  void learned(std::string_view type, double seconds) {
    for (core_id core = 0; core < 2; ++core) w.set({core, 1}, seconds, type);
  }
};

TEST(ranks, are_values_while_nothing_is_known) {
  two_ways g;
  submit(g.w, criticality::ranks);
  EXPECT_TRUE(g.w.critical(g.a));
  EXPECT_TRUE(ready(g.w, criticality::ranks, g.a));
  EXPECT_TRUE(g.w.critical(g.c)) << "three tasks to the end";
  EXPECT_FALSE(g.w.critical(g.b));
}

TEST(ranks, follow_learned_times_as_they_are_when_the_path_comes_to_a_task) {
  two_ways g;
  g.learned("task", 10 * us);
  g.learned("c", 10 * us);
  g.learned("b", 50 * us);
  submit(g.w, criticality::ranks);
  ready(g.w, criticality::ranks, g.a);
  EXPECT_TRUE(g.w.critical(g.b)) << "50 + 10 against 10 + 10 + 10";
  EXPECT_FALSE(g.w.critical(g.c));
  ready(g.w, criticality::ranks, g.b, g.a);
  EXPECT_TRUE(g.w.critical(g.d));

  two_ways changed;
  changed.learned("task", 10 * us);
  changed.learned("c", 10 * us);
  changed.learned("b", 50 * us);
  submit(changed.w, criticality::ranks);
  changed.learned("b", 15 * us);
  ready(changed.w, criticality::ranks, changed.a);
  EXPECT_TRUE(changed.w.critical(changed.c)) << "by now 15 + 10 against 30";
  EXPECT_FALSE(changed.w.critical(changed.b));
}

TEST(online, flags_on_a_whole_graph_what_chain_closed_flags_roots_included) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    random_stream random(seed, "online");
    world w(machine::uniform(2));
    std::vector<task> tasks;
    std::vector<std::vector<std::uint32_t>> before;
    for (std::uint32_t i = 0; i < 40; ++i) {
      tasks.push_back(w.add(random.below(2) == 0));
      std::set<std::uint32_t> from;
      for (std::uint32_t e = i == 0 ? 0 : random.below(4); e > 0; --e) from.insert(random.below(i));
      for (const std::uint32_t f : from) w.g.edge(tasks[f], tasks[i]);
      before.emplace_back(from.begin(), from.end());
    }
    submit(w, criticality::chain_closed);
    std::vector<bool> expected;
    for (const task t : tasks) expected.push_back(w.critical(t));
    for (const task t : tasks) {
      detail::asked_view v = w.at(0);
      v.set_state(world::ref(t), {});
    }
    submit(w, criticality::online);
    for (std::uint32_t i = 0; i < tasks.size(); ++i) {
      // Whichever of its predecessors came last.
      const task parent =
          before[i].empty()
              ? task{}
              : tasks[before[i][random.below(static_cast<std::uint32_t>(before[i].size()))]];
      EXPECT_EQ(ready(w, criticality::online, tasks[i], parent), expected[i])
          << "seed " << seed << ", task " << i;
    }
  }
}

TEST(online, goes_on_in_tasks_that_a_critical_task_adds) {
  world w(machine::uniform(2));
  const task root = w.add(), aside = w.add(), leaf = w.add();
  w.g.edge(root, leaf);
  submit(w, criticality::online);
  EXPECT_TRUE(ready(w, criticality::online, root)) << "a root of the largest value (papers.md D18)";
  EXPECT_FALSE(ready(w, criticality::online, aside));

  const auto add_two_and_one = [&](task adder) {
    w.source.batch.clear();
    w.source.whole = false;
    const task head = w.add(), next = w.add(), beside = w.add();
    w.g.edge(head, next);
    submit(w, criticality::online);
    return std::array{ready(w, criticality::online, head, adder),
                      ready(w, criticality::online, next, head),
                      ready(w, criticality::online, beside, adder)};
  };
  EXPECT_EQ(add_two_and_one(root), (std::array{true, true, false}));
  EXPECT_EQ(add_two_and_one(aside), (std::array{false, false, false}))
      << "the longest of what matters to nobody";
}

// D18: under `perf` too, whose rule for roots is S2's.
TEST(online, makes_a_critical_root_search) {
  world w(testing::two_and_four());
  w.set_all(20 * us);
  w.set({4, 2}, 1 * us);
  const task root = w.add(), next = w.add();
  w.g.edge(root, next);
  policy_options o;
  o.source = criticality::online;
  const auto p = make_policy("perf", w.m, o);
  detail::graph_access::core(w.g).index_predecessors();
  w.submit(*p);
  EXPECT_EQ(w.ready(*p, root, {}, no_core).queue, 0u);
  EXPECT_EQ(w.take(*p, root, 0), (place{4, 2}));
  const auto dam = make_policy("dam-c", w.m, o);
  const ready_decision d = w.ready(*dam, root, {}, no_core);
  EXPECT_EQ(w.m.at(d.where), (place{4, 2}));
}

TEST(sources, ask_for_what_they_need) {
  const machine m = machine::uniform(2);
  for (const auto& [source, low, predecessors] : {std::tuple{criticality::fanout, false, false},
                                                  {criticality::ranks, false, false},
                                                  {criticality::hops, true, true},
                                                  {criticality::online, true, true}}) {
    policy_options o;
    o.source = source;
    for (const char* name : {"fa", "fam-c", "da", "dam-c", "dam-p", "perf"}) {
      const discipline d = make_policy(name, m, o)->queues(m);
      EXPECT_TRUE(d.asks_submit) << name;
      EXPECT_EQ(d.asks_ready_low, low) << name;
      EXPECT_EQ(d.reads_predecessors, predecessors) << name;
    }
  }
}

}  // namespace
}  // namespace kilter
