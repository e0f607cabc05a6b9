// Which tasks are critical: flags found in the graph, and the sources that go beyond S2's: fanout,
// ranks, online. (hops: dynamic_policies_test.cpp)

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "base/random.hpp"
#include "policy/labels.hpp"
#include "unit/policy/world.hpp"

namespace kilter {
namespace {

// ---- found in the graph -------------------------------------------------------------------------

using test::world;

/// S2 Fig. 1: A-C, A-E, C-G, B-G, G-D, D-F, E-F; created in an order that is not topological, as a
/// user may.
struct figure_one {
  world w{machine::uniform(4)};
  std::map<char, task> t;
  explicit figure_one(std::string_view order = "FABCDEG") {
    for (const char name : order) t[name] = w.add();
    for (const char* e : {"AC", "AE", "CG", "BG", "GD", "DF", "EF"}) w.g.edge(t[e[0]], t[e[1]]);
  }
  void label(criticality source) {
    detail::asked_view v = w.at(no_core);
    labels::rule(source).on_submit(v);
  }
  std::string flagged() {
    std::string names;
    for (const auto& [name, one] : t)
      if (w.critical(one)) names += name;
    return names;
  }
};

// S2-13 and the oracle of papers.md F.
TEST(values, are_those_of_the_papers_figure) {
  for (const char* order : {"FABCDEG", "ABCDEFG", "FDGECBA", "GECADBF"}) {
    figure_one f(order);
    f.label(criticality::chain);
    const std::map<char, std::uint64_t> expected = {{'A', 5}, {'B', 4}, {'C', 4}, {'G', 3},
                                                    {'D', 2}, {'F', 1}, {'E', 2}};
    for (const auto& [name, value] : expected)
      EXPECT_EQ(f.w.value(f.t[name]), value) << name << " created as " << order;
    EXPECT_EQ(f.flagged(), "ACDFG");
    EXPECT_DOUBLE_EQ(7.0 / static_cast<double>(f.flagged().size()), 1.4)
        << "tasks by critical tasks: the parallelism";
  }
}

TEST(chain_closed, flags_every_longest_path_and_nothing_beside) {
  figure_one f;
  f.label(criticality::chain_closed);
  EXPECT_EQ(f.flagged(), "ACDFG") << "B has value 4, as C, but no longest path goes through it";

  world w(machine::uniform(2));
  const task root = w.add(), left = w.add(), right = w.add(), sink = w.add(), side = w.add();
  for (const task mid : {left, right}) {
    w.g.edge(root, mid);
    w.g.edge(mid, sink);
  }
  w.g.edge(root, side);
  detail::asked_view v = w.at(no_core);
  labels::rule(criticality::chain_closed).on_submit(v);
  for (const task t : {root, left, right, sink}) EXPECT_TRUE(w.critical(t));
  EXPECT_FALSE(w.critical(side));
  labels::rule(criticality::chain).on_submit(v);
  EXPECT_TRUE(w.critical(left));
  EXPECT_FALSE(w.critical(right)) << "chain marks one path only, through the first successor";
}

// S2 as written: every child one below its parent, which flags side chains too (papers.md E5).
TEST(diff1, compares_with_the_parent_when_a_task_becomes_ready) {
  figure_one f;
  f.label(criticality::diff1);
  EXPECT_EQ(f.flagged(), "") << "nothing is critical before it is ready";
  const auto ready = [&](char task, char parent) {
    detail::asked_view v = f.w.at(0);
    labels::rule(criticality::diff1)
        .on_ready(world::ref(f.t[task]), parent ? world::ref(f.t[parent]) : task_ref{}, v);
    return f.w.critical(f.t[task]);
  };
  EXPECT_FALSE(ready('A', 0)) << "a root has no parent to compare with (papers.md E57)";
  EXPECT_TRUE(ready('C', 'A'));
  EXPECT_FALSE(ready('E', 'A')) << "two below";
  EXPECT_TRUE(ready('G', 'B')) << "one below B as well";
  EXPECT_FALSE(ready('G', 'A'));
}

TEST(labels, replace_the_users_flags_and_leave_tasks_that_are_added_later_alone) {
  world w(machine::uniform(2));
  const task a = w.add(true), b = w.add(false), lonely = w.add(true);
  w.g.edge(b, a);
  detail::asked_view v = w.at(no_core);
  labels::rule(criticality::chain).on_submit(v);
  EXPECT_TRUE(w.critical(b));
  EXPECT_TRUE(w.critical(a));
  EXPECT_FALSE(w.critical(lonely));

  world dynamic(machine::uniform(2));
  const task high = dynamic.add(true), low = dynamic.add(false);
  dynamic.source.whole = false;
  detail::asked_view d = dynamic.at(0);
  for (const criticality source :
       {criticality::chain, criticality::chain_closed, criticality::diff1}) {
    labels::rule(source).on_submit(d);
    labels::rule(source).on_ready(world::ref(high), world::ref(low), d);
    EXPECT_TRUE(dynamic.critical(high));
    EXPECT_FALSE(dynamic.critical(low));
  }
}

TEST(labels, of_an_empty_graph_are_none) {
  world w(machine::uniform(2));
  detail::asked_view v = w.at(no_core);
  labels::rule(criticality::chain_closed).on_submit(v);
  EXPECT_EQ(w.source.batch.size(), 0u);
}

// Against the definition, on graphs of any shape: the longest way down by plain recursion, all
// longest paths by values both ways.
TEST(labels, agree_with_the_definition_on_random_graphs) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    random_stream random(seed, "labels");
    world w(machine::uniform(2));
    const std::uint32_t n = 1 + random.below(40);
    std::vector<std::uint32_t> rank(n);
    std::vector<task> tasks;
    for (std::uint32_t i = 0; i < n; ++i) {
      tasks.push_back(w.add(random.below(2) == 0));
      rank[i] = random.below(1000) * 64 + i;
    }
    std::vector<std::vector<std::uint32_t>> down(n), up(n);
    for (std::uint32_t e = 0; e < n * 2; ++e) {
      std::uint32_t a = random.below(n), b = random.below(n);
      if (a == b) continue;
      if (rank[a] > rank[b]) std::swap(a, b);
      w.g.edge(tasks[a], tasks[b]);
      down[a].push_back(b);
      up[b].push_back(a);
    }
    std::vector<std::uint64_t> below(n, 0), above(n, 0);
    const auto length = [](auto& self, const auto& edges, auto& known,
                           std::uint32_t i) -> std::uint64_t {
      if (known[i]) return known[i];
      std::uint64_t longest = 0;
      for (const auto next : edges[i]) longest = std::max(longest, self(self, edges, known, next));
      return known[i] = longest + 1;
    };
    std::uint64_t longest = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      length(length, down, below, i);
      length(length, up, above, i);
      longest = std::max(longest, below[i]);
    }
    detail::asked_view v = w.at(no_core);
    labels::rule(criticality::chain_closed).on_submit(v);
    for (std::uint32_t i = 0; i < n; ++i) {
      EXPECT_EQ(w.value(tasks[i]), below[i]) << "seed " << seed;
      EXPECT_EQ(w.critical(tasks[i]), below[i] + above[i] == longest + 1)
          << "seed " << seed << " task " << i;
    }
    labels::rule(criticality::chain).on_submit(v);
    std::uint64_t flagged = 0;
    for (const task t : tasks) flagged += w.critical(t);
    EXPECT_EQ(flagged, longest) << "one path, no more";
  }
}

TEST(labels, take_time_in_proportion_to_the_graph) {
  // A star of 200,000 leaves and a chain that was built backwards: both would take hours if a walk
  // were quadratic.
  world star(machine::uniform(2));
  const task root = star.add();
  for (int i = 0; i < 200'000; ++i) star.g.edge(root, star.add());
  detail::asked_view v = star.at(no_core);
  labels::rule(criticality::chain_closed).on_submit(v);
  EXPECT_EQ(star.value(root), 2u);

  world chain(machine::uniform(2));
  task last = chain.add();
  for (int i = 0; i < 200'000; ++i) {
    const task before = chain.add();
    chain.g.edge(before, last);
    last = before;
  }
  detail::asked_view c = chain.at(no_core);
  labels::rule(criticality::chain).on_submit(c);
  EXPECT_EQ(chain.value(last), 200'001u);
}

// ---- fanout, ranks, online ----------------------------------------------------------------------

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
  world w(test::two_kinds(2, 4));
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
