// The graph that is recorded of a program is the one that it made, and can be read, simulated and
// run again.

#include "measuring/recorded_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <span>

#include "apps/programs/heat.hpp"
#include "apps/programs/kmeans.hpp"
#include "apps/programs/network_input.hpp"
#include "apps/programs/vgg16.hpp"
#include "graph/dag_facts.hpp"
#include "graph_files/dag_json.hpp"
#include "graph_files/source_text.hpp"
#include "kilter/error.hpp"
#include "kilter/graph.hpp"
#include "kilter/runtime.hpp"
#include "runtime/attachments.hpp"
#include "sim/engine.hpp"
#include "sim/threads/thread_engine.hpp"
#include "threads/recorded_threads.hpp"
#include "trace/recorder.hpp"
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

// Recorded graphs of tasks as the threads that S1 compares with them.

/// Twice: half a second of serial work, then four blocks of a second.
dag two_loops() {
  dag d;
  d.name = "loops";
  d.types = {{"step"}, {"block"}};
  for (int round = 0; round < 2; ++round) {
    d.tasks.push_back({.id = "step " + std::to_string(round), .type = 0, .seconds = 0.5});
    for (int b = 0; b < 4; ++b)
      d.tasks.push_back(
          {.id = "block " + std::to_string(4 * round + b), .type = 1, .seconds = 1.0});
  }
  return d;
}

/// Six items: read in order, worked on by several, written in order.
dag pipeline() {
  dag d;
  d.name = "pipeline";
  d.types = {{"read"}, {"work"}, {"write"}};
  for (std::uint32_t i = 0; i < 6; ++i)
    for (std::uint32_t stage = 0; stage < 3; ++stage) {
      d.tasks.push_back(
          {.id = std::to_string(3 * i + stage), .type = stage, .seconds = stage == 1 ? 1.0 : 0.25});
      if (stage > 0) d.edges.push_back({.from = 3 * i + stage - 1, .to = 3 * i + stage});
      if (stage != 1 && i > 0)
        d.edges.push_back({.from = 3 * (i - 1) + stage, .to = 3 * i + stage});
    }
  settle(d);
  return d;
}

double end_of(const sim::thread_program& p, std::vector<double> clocks) {
  sim::thread_machine m;
  for (const double c : clocks) m.cores.push_back({c});
  return sim::run_threads(m, std::span(&p, 1), 1, nullptr).end_s;
}

TEST(recorded_threads, share_a_loop_out_equally_or_as_they_come) {
  EXPECT_NEAR(end_of(threads_of(two_loops(), 2, loop_sharing::equal, 1.0, {}), {1, 1}),
              2 * (0.5 + 2), 1e-6);
  EXPECT_NEAR(end_of(threads_of(two_loops(), 1, loop_sharing::equal, 1.0, {}), {1}), 2 * (0.5 + 4),
              1e-6);
  EXPECT_NEAR(end_of(threads_of(two_loops(), 2, loop_sharing::equal, 3.0, {}), {1, 1}),
              3 * 2 * (0.5 + 2), 1e-6)
      << "scaled";
  EXPECT_NEAR(
      end_of(threads_of(two_loops(), 8, loop_sharing::equal, 1.0, {}), {1, 1, 1, 1, 1, 1, 1, 1}),
      2 * (0.5 + 1), 1e-6)
      << "more threads than blocks";
  // Of unequal cores the slow one is waited for, or does fewer. Where the system puts which thread
  // is drawn, so the first thread's serial work may be slow.
  const double equal = end_of(threads_of(two_loops(), 2, loop_sharing::equal, 1.0, {}), {1, 0.25}),
               as_they_come = end_of(
                   threads_of(two_loops(), 2, loop_sharing::as_they_come, 1.0, {}), {1, 0.25});
  EXPECT_GE(equal, 2 * (0.5 + 8) - 1e-6);
  EXPECT_LE(as_they_come, 2 * (2 + 4) + 1e-6);
}

TEST(recorded_threads, have_a_pool_of_threads_for_each_stage) {
  const sim::thread_program p = threads_of(pipeline(), 3, loop_sharing::equal, 1.0, {});
  EXPECT_EQ(p.groups.front().threads.size(), 1u + 3u + 1u);
  EXPECT_NEAR(end_of(p, {1, 1, 1, 1, 1}), 0.25 * 3 + 1.0 + 1.0 + 0.25, 0.26) << "three at a time";
  EXPECT_NEAR(end_of(p, {1}), 6 * 1.5, 1e-6);
  EXPECT_NEAR(end_of(threads_of(pipeline(), 1, loop_sharing::equal, 1.0, {}), {1, 1, 1}),
              0.25 + 6 * 1.0 + 0.25, 1e-6)
      << "as fast as the slowest stage";
}

TEST(recorded_threads, refuse_what_is_no_program) {
  EXPECT_THROW((void)threads_of(dag{}, 2, loop_sharing::equal, 1.0, {}), input_error);
  EXPECT_THROW((void)threads_of(two_loops(), 0, loop_sharing::equal, 1.0, {}), input_error);
  dag d = pipeline();
  d.tasks.push_back({.id = "more", .type = 1, .seconds = 1.0});
  EXPECT_THROW((void)threads_of(d, 2, loop_sharing::equal, 1.0, {}), input_error)
      << "seven items in one stage, six in the others";
}

}  // namespace
}  // namespace kilter::lab
