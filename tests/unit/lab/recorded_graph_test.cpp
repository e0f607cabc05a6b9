// The graph that is recorded of a program is the one that it made, and can be read, simulated and
// run again.

#include "measuring/recorded_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "apps/programs/heat.hpp"
#include "apps/programs/kmeans.hpp"
#include "apps/programs/network_input.hpp"
#include "apps/programs/vgg16.hpp"
#include "graph/dag_facts.hpp"
#include "graph_files/dag_json.hpp"
#include "graph_files/source_text.hpp"
#include "kilter/graph.hpp"
#include "kilter/runtime.hpp"
#include "runtime/attachments.hpp"
#include "sim/engine.hpp"
#include "workloads/dag_work.hpp"

namespace kilter::lab {
namespace {

bool never() { return false; }

using names = std::pair<std::string, std::string>;

std::set<names> edges_of(const dag& d) {
  std::set<names> all;
  for (const dag::edge& e : d.edges) all.emplace(d.tasks[e.from].id, d.tasks[e.to].id);
  return all;
}

std::map<std::string, std::size_t> tasks_by_type(const dag& d) {
  std::map<std::string, std::size_t> all;
  for (const dag::task& t : d.tasks) ++all[d.types[t.type].name];
  return all;
}

/// Reads back as it is, and runs in the simulator.
void check_usable(const dag& d) {
  const std::string text = dags::graph_json(d);
  dag again = dags::read_graph_json({"recorded.json", text});
  EXPECT_EQ(dags::graph_json(again), text);
  const sim::platform p = sim::platform::load("haswell-16");
  graph g;
  const task_graph made = build(
      g, dag_work{.from = "recorded.json", .what = std::make_shared<const dag>(std::move(again))},
      p);
  sim::engine e(p, {.policy = make_policy("auto", *p.cores), .table = table_options::robust()});
  EXPECT_EQ(e.run(g, made.types).tasks, d.tasks.size());
}

/// What a graph's own tasks add is recorded, on one core as by several threads.
dag recording_of(graph& g, std::uint32_t threads) {
  trace::recorder events(threads, {.keeps_graph = true});
  {
    runtime rt(
        runtime_options{.machine = std::make_shared<const machine>(machine::uniform(threads)),
                        .policy = "rws"},
        kilter::detail::attachments{.events = &events});
    rt.run(g);
  }
  const trace::graph_log::content log = events.graph()->take();
  EXPECT_TRUE(log.complete);
  return graph_of(log, events.drain(), "test");
}

TEST(recorded_graph, has_the_edges_of_a_graph_that_is_there_before_it_runs) {
  graph g;
  const task a = g.add({.type = g.type("a"), .priority = priority::high}, [] {});
  const task b = g.add({.type = g.type("b"), .widths = {1, 2}}, [](team_member&) {});
  int x = 0;
  g.add({.type = g.type("c")}, {.out = {&x}}, [] {});
  g.add({.type = g.type("d")}, {.in = {&x}}, [] {});
  g.edge(a, b, 0.25);
  const dag d = recording_of(g, 2);
  EXPECT_EQ(edges_of(d), (std::set<names>{{"a 1", "b 1"}, {"c 1", "d 1"}}));
  for (const dag::edge& e : d.edges) EXPECT_EQ(e.cost_s, d.tasks[e.from].id == "a 1" ? 0.25 : 0.0);
  for (const dag::task& t : d.tasks) {
    EXPECT_EQ(t.priority == priority::high, t.id == "a 1");
    EXPECT_EQ(t.widths,
              t.id == "b 1" ? (std::vector<std::uint32_t>{1, 2}) : std::vector<std::uint32_t>{1})
        << t.id;
  }
}

TEST(recorded_graph, cuts_a_task_where_it_hands_over_and_where_it_waits) {
  for (const std::uint32_t threads : {1u, 4u}) {
    graph g;
    const task_type child = g.type("child"), later = g.type("later");
    const task adder = g.add({.type = g.type("adder")}, [&](task_context& here) {
      batch b(here);
      const task first = b.add({.type = child}, [] {});
      const task second = b.add({.type = child}, [] {});
      b.add({.type = child}, [] {});
      b.edge(first, second);
      b.release();
      b.wait();
      b.add({.type = later}, [] {});
      b.detach();
    });
    const task after = g.add({.type = g.type("after")}, [] {});
    g.edge(adder, after);
    const dag d = recording_of(g, threads);
    // adder 1.1 releases; 1.2 goes on beside the children, 1.3 after them until it lets go of the
    // later one, 1.4 ends it.
    const std::map<std::string, std::size_t> wanted{
        {"adder", 4}, {"child", 3}, {"later", 1}, {"after", 1}};
    EXPECT_EQ(tasks_by_type(d), wanted);
    const auto edges = edges_of(d);
    for (const names& e : {names{"adder 1.1", "adder 1.2"},
                           {"adder 1.2", "adder 1.3"},
                           {"adder 1.3", "adder 1.4"},
                           {"adder 1.3", "later 1"},
                           {"adder 1.4", "after 1"}})
      EXPECT_TRUE(edges.contains(e)) << e.first << " -> " << e.second;
    EXPECT_EQ(edges.size(), 5u + 1 + 2 + 2)
        << "one between children, two that follow no other child, two that no other child follows";
    EXPECT_FALSE(edges.contains({"later 1", "after 1"})) << "nobody waits for what was let go";
  }
}

TEST(recorded_graph, a_wait_that_hands_over_itself_leaves_no_piece_between) {
  graph g;
  g.add({.type = g.type("adder")}, [](task_context& here) {
    batch b(here);
    for (int i = 0; i < 3; ++i) b.add([] {});
    b.wait();
  });
  const dag d = recording_of(g, 2);
  EXPECT_EQ(tasks_by_type(d), (std::map<std::string, std::size_t>{{"adder", 2}, {"task", 3}}));
  EXPECT_TRUE(edges_of(d).contains({"task 2", "adder 1.2"}));
}

TEST(recorded_graph, a_wait_comes_after_what_it_waited_for_alone) {
  graph g;
  const task_type gone = g.type("gone"), first = g.type("first"), second = g.type("second");
  g.add({.type = g.type("adder")}, [&](task_context& here) {
    batch b(here);
    b.add({.type = gone}, [] {});
    b.detach();
    for (const task_type t : {first, second}) {
      b.add({.type = t}, [] {});
      b.wait();
    }
  });
  // 1.1 lets go, 1.2 hands over the first, 1.3 the second, 1.4 comes after that.
  const std::set<names> wanted{{"adder 1.1", "gone 1"},   {"adder 1.1", "adder 1.2"},
                               {"adder 1.2", "first 1"},  {"first 1", "adder 1.3"},
                               {"adder 1.3", "second 1"}, {"second 1", "adder 1.4"}};
  for (const std::uint32_t threads : {1u, 4u})
    EXPECT_EQ(edges_of(recording_of(g, threads)), wanted);
}

TEST(recorded_graph, times_of_a_task_that_waits_are_its_own) {
  graph g;
  const auto burn = [] {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
    while (std::chrono::steady_clock::now() < end) {
    }
  };
  const task_type child = g.type("child");
  g.add({.type = g.type("adder")}, [&](task_context& here) {
    batch b(here);
    for (int i = 0; i < 2; ++i) b.add({.type = child}, burn);
    b.wait();
  });
  const dag d = recording_of(g, 1);
  double adder_s = 0.0, children_s = 0.0;
  for (const dag::task& t : d.tasks)
    (d.types[t.type].name == "adder" ? adder_s : children_s) += t.seconds;
  EXPECT_GE(children_s, 0.040);
  EXPECT_LT(adder_s, children_s) << "it ran them while it waited";
}

TEST(recorded_graph, graphs_that_ran_one_after_the_other_are_joined) {
  graph g;
  g.add({.type = g.type("a")}, [] {});
  g.add({.type = g.type("a")}, [] {});
  trace::recorder events(1, {.keeps_graph = true});
  {
    runtime rt(runtime_options{.machine = std::make_shared<const machine>(machine::uniform(1)),
                               .policy = "rws"},
               kilter::detail::attachments{.events = &events});
    rt.run(g);
    rt.run(g);
  }
  const dag d = graph_of(events.graph()->take(), events.drain(), "twice");
  EXPECT_EQ(edges_of(d),
            (std::set<names>{
                {"a 1", "join 1"}, {"a 2", "join 1"}, {"join 1", "a 3"}, {"join 1", "a 4"}}));
}

TEST(recorded_graph, of_kmeans) {
  apps::kmeans k(apps::drawn_points(500, 3, 1), {.clusters = 4,
                                                 .cut = apps::loop_cut::tasks,
                                                 .block = 100,
                                                 .most_iterations = 6,
                                                 .least_changed = 0});
  const auto d = record_graph(k, "kmeans", machine::uniform(2), 1, never);
  ASSERT_TRUE(d);
  const std::size_t blocks = 5, iterations = tasks_by_type(*d).at("assign") / blocks;
  EXPECT_GT(iterations, 2u);
  // An iteration is cut where it waits for its blocks, and where it lets the next one go.
  EXPECT_EQ(tasks_by_type(*d),
            (std::map<std::string, std::size_t>{{"iterate", 3 * iterations - 1},
                                                {"assign", iterations * blocks}}));
  EXPECT_EQ(d->edges.size(), iterations * 2 * blocks + (iterations - 1) * 2);
  const auto high = std::ranges::count(d->tasks, priority::high, &dag::task::priority);
  EXPECT_EQ(static_cast<std::size_t>(high), 3 * iterations - 1 + iterations)
      << "the largest block of each";
  check_usable(*d);
}

TEST(recorded_graph, of_heat) {
  const apps::heat_options o{.block_rows = 4, .steps = 6};
  apps::heat h(apps::drawn_plate(40, 40, o.steps, 1), o, std::make_shared<apps::ranks>());
  const auto d = record_graph(h, "heat", machine::uniform(2), 1, never);
  ASSERT_TRUE(d);
  EXPECT_EQ(tasks_by_type(*d), (std::map<std::string, std::size_t>{{"sweep", 24}}));
  EXPECT_EQ(facts_of(*d).path_tasks, 6u);
  EXPECT_EQ(facts_of(*d).roots, 4u);
  EXPECT_EQ(d->edges.size(), 5u * (2 + 3 + 3 + 2) + 4 * 4)
      << "after itself and its neighbours, and after who wrote the same field before";
  check_usable(*d);
}

TEST(recorded_graph, of_heat_with_checkpoints_is_joined_at_each) {
  apps::heat_options o{.block_rows = 2, .steps = 6};
  o.checkpoint_every = 3;
  o.checkpoint = [](const apps::plate&) {};
  apps::heat h(apps::drawn_plate(40, 40, o.steps, 1), o, std::make_shared<apps::ranks>());
  const auto d = record_graph(h, "heat", machine::uniform(2), 1, never);
  ASSERT_TRUE(d);
  EXPECT_EQ(tasks_by_type(*d), (std::map<std::string, std::size_t>{{"sweep", 12}, {"join", 1}}));
}

TEST(recorded_graph, of_vgg16) {
  apps::network n = apps::vgg16_network(32, 64);
  apps::draw_weights(n, 1);
  std::vector<float> input = apps::network_input(apps::drawn_picture(32, 1), 32, n.scale);
  apps::vgg16 v(std::move(n), std::move(input), {.pictures = 2, .block_length = 16});
  const auto d = record_graph(v, "vgg16", machine::uniform(2), 1, never);
  ASSERT_TRUE(d);
  // For each picture 34 stages, each of which the network waits for, and once it lets the next
  // picture go.
  const std::map<std::string, std::size_t> wanted{{"network", 2 * 35 + 1},
                                                  {"im2col", 2 * 13},
                                                  {"convolution", 2 * 13},
                                                  {"max pooling", 2 * 5},
                                                  {"fully connected", 2 * (4 + 4 + 63)}};
  EXPECT_EQ(tasks_by_type(*d), wanted);
  EXPECT_EQ(d->edges.size(), 2u * 2 * (13 + 13 + 5 + 4 + 4 + 63) + 2);
  check_usable(*d);
}

TEST(recorded_graph, of_a_run_that_is_stopped_is_none) {
  apps::kmeans k(apps::drawn_points(100'000, 8, 1), {.clusters = 64,
                                                     .cut = apps::loop_cut::tasks,
                                                     .block = 100,
                                                     .most_iterations = 1'000'000,
                                                     .least_changed = 0});
  EXPECT_FALSE(record_graph(k, "kmeans", machine::uniform(2), 1, [] { return true; }));
}

}  // namespace
}  // namespace kilter::lab
