// Graphs as data: what settling promises, that our own files read back as written, and what is
// refused with a line that helps.

#include "graph/dag.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "graph/dag_facts.hpp"
#include "graph_files/dag_formats.hpp"
#include "graph_files/dag_json.hpp"
#include "graph_files/dag_source.hpp"
#include "kilter/error.hpp"
#include "unit/graph/dag_text.hpp"

namespace kilter {
namespace {

dag of(std::vector<std::string> ids, std::vector<dag::edge> edges) {
  dag g{.name = "g", .types = {{.name = "task"}}, .tasks = {}, .edges = std::move(edges)};
  for (std::string& id : ids) g.tasks.push_back({.id = std::move(id)});
  return g;
}

std::string refused(dag g) {
  return test::refusal([&] { settle(g); });
}

TEST(Settle, PutsTasksInAnOrderOfTheEdgesAndKeepsTheListsOrderWhereItCan) {
  dag g = of({"a", "b", "c", "d"}, {{2, 0}, {1, 3}});
  g.processors = {"P1", "P2"};
  g.seconds_on = {0, 1, 10, 11, 20, 21, 30, 31};
  settle(g);
  EXPECT_EQ(ids_of(g), "b c a d");
  EXPECT_EQ(edges_of(g), "b-d c-a");
  EXPECT_EQ(g.given_s(0, 1), 11) << "a task's times on the processors move with it";
  EXPECT_EQ(g.given_s(2, 0), 0);
}

TEST(Settle, LeavesAGraphThatIsInOrderAsItIs) {
  dag g = of({"z", "y", "x"}, {{0, 2}});
  settle(g);
  EXPECT_EQ(ids_of(g), "z y x");
}

TEST(Settle, JoinsRepeatedEdges) {
  dag g = of({"a", "b"}, {{0, 1, 0.5, 10}, {0, 1, 0.25, 5}});
  settle(g);
  ASSERT_EQ(g.edges.size(), 1u);
  EXPECT_EQ(g.edges[0].cost_s, 0.5);
  EXPECT_EQ(g.edges[0].bytes, 15);
}

TEST(Settle, NamesACycleAndNothingBeside) {
  const std::string message =
      refused(of({"root", "a", "b", "c", "leaf"}, {{0, 1}, {1, 2}, {2, 3}, {3, 1}, {3, 4}}));
  EXPECT_TRUE(contains(message, "'a' -> 'b' -> 'c' -> 'a'") ||
              contains(message, "'b' -> 'c' -> 'a' -> 'b'") ||
              contains(message, "'c' -> 'a' -> 'b' -> 'c'"))
      << message;
  EXPECT_FALSE(contains(message, "root") || contains(message, "leaf")) << message;
}

TEST(Settle, ShortensALongCycle) {
  std::vector<std::string> ids;
  std::vector<dag::edge> edges;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    ids.push_back("t" + std::to_string(i));
    edges.push_back({i, (i + 1) % 1000});
  }
  const std::string message = refused(of(ids, edges));
  EXPECT_TRUE(contains(message, "(988 more)")) << message;
}

TEST(Settle, RefusesWhatCannotBe) {
  EXPECT_TRUE(contains(refused(of({"a", "a"}, {})), "'a'"));
  EXPECT_TRUE(contains(refused(of({"a", ""}, {})), "no id"));
  EXPECT_TRUE(contains(refused(of({"a"}, {{0, 0}})), "'a' -> 'a'"));
  EXPECT_TRUE(contains(refused(of({"a"}, {{0, 7}})), "7"));
  EXPECT_TRUE(contains(refused(of({"a", "b"}, {{0, 1, -1.0}})), "-1"));
  EXPECT_TRUE(contains(
      refused(of({"a", "b"}, {{0, 1, 0, std::numeric_limits<double>::quiet_NaN()}})), "nan"));
  dag g = of({"a"}, {});
  g.tasks[0].seconds = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(contains(refused(g), "inf"));
  g = of({"a"}, {});
  g.tasks[0].type = 1;
  EXPECT_TRUE(contains(refused(g), "type 1"));
  g = of({"a"}, {});
  g.processors = {"P"};
  EXPECT_TRUE(contains(refused(g), "tasks x processors"));
}

// ---- our own files ------------------------------------------------------------------------------

std::string json_error(const std::string& text) {
  return test::refusal([&] { (void)dags::read_dag("g.json", text); });
}

TEST(GraphJson, ReadsBackWhatItWrites) {
  const std::string text =
      R"({"schema":"kilter.graph/1","name":"all \"of\" it","processors":["P1","P2"],
    "types":[{"name":"matmul","kernel":"matmul","size":64}],
    "tasks":[{"id":"a","type":"matmul","seconds":0.1,"on":[1,2.5],"priority":"high","widths":[2,1]},{"id":"b\n","on":[3,4]}],
    "edges":[["a","b\n",0.25,1e6]]})";
  const dag g = dags::read_dag("g.json", text);
  EXPECT_EQ(g.name, "all \"of\" it");
  EXPECT_EQ(g.types[0].kernel, "matmul");
  EXPECT_EQ(g.types[g.tasks[1].type].name, "task");
  EXPECT_EQ(g.tasks[0].priority, priority::high);
  EXPECT_EQ(g.tasks[0].widths, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(g.tasks[1].seconds, 3) << "without seconds: on the processor where it is fastest";
  EXPECT_EQ(g.given_s(0, 1), 2.5);
  EXPECT_EQ(g.edges[0].bytes, 1e6);
  const std::string written = dags::graph_json(g);
  EXPECT_EQ(dags::graph_json(dags::read_dag("again", written)), written);
}

TEST(GraphJson, WhateverItReadsItCanWrite) {
  const dag g = dags::read_dag(
      "g.json",
      R"({"tasks":[{"id":"a","type":"","seconds":1e18},{"id":"b","seconds":1e18}],"edges":[["a","b",0,1e18],["a","b",0,1e18]]})");
  EXPECT_EQ(g.types.size(), 1u) << "a type without a name is 'task'";
  for (const dags::dag_format& format : dags::dag_formats())
    EXPECT_GE(dags::read_dag(std::string(format.name), format.write(g)).tasks.size(), 2u)
        << "sums that are too large are written as no number";
}

TEST(GraphJson, TakesEdgesBeforeTasksAndNumbersAsIds) {
  const dag g = dags::read_dag(
      "g.json",
      R"({"edges":[[2,1]],"tasks":[{"id":1,"on":[5]},{"id":2,"on":[7]}],"processors":["P"]})");
  EXPECT_EQ(ids_of(g), "2 1");
  EXPECT_EQ(g.given_s(0, 0), 7);
}

TEST(GraphJson, NamesFileLineAndValueOfWhatIsWrong) {
  const auto expect = [](const std::string& text, const std::string& part) {
    const std::string message = json_error(text);
    EXPECT_TRUE(contains(message, part)) << "'" << part << "' is not in: " << message;
    EXPECT_TRUE(message.starts_with("g.json:")) << message;
    EXPECT_FALSE(contains(message, "\n"));
  };
  expect("{\"tasks\":[\n{\"id\":\"a\"},\n{\"id\":\"a\"}]}", ":3: a second task with the id 'a'");
  expect("{\"tasks\":[{\"id\":\"a\"}],\n\"edges\":[[\"a\",\n\"b\"]]}",
         ":3: there is no task with the id 'b'");
  expect("{\"tasks\":[{\"id\":\"a\",\n\"seconds\":-1}]}",
         ":2: the seconds of a task must be a number of at least 0, got -1");
  expect("{\"tasks\":[{\"id\":\"a\",\"seconds\":NaN}]}", "found 'NaN'");
  expect("{\"tasks\":[{\"id\":\"a\",\"seconds\":1e999}]}", "1e999");
  expect("{\"tasks\":[{\"id\":\"a\"},\n{\"id\":\"b\",\"seconds\":1e308}]}",
         ":2: the seconds of a task must be a number of at most 1e+18, got 1e+308");
  expect("{\"tasks\":[{\"id\":\"a\"},{\"id\":\"b\"}],\n\"edges\":[[\"a\",\"b\",1e300]]}",
         ":2: the seconds of an edge must be a number of at most 1e+18");
  expect("{\"tasks\":[{\"id\":\"a\",\"secnds\":1}]}", "'secnds'");
  expect("{\"tasks\":[{\"id\":\"a\"},{\"id\":\"b\"}],\"edges\":[[\"a\",\"b\"],[\"b\",\"a\"]]}",
         "cycle: ");
  expect("{\"tasks\":[{\"id\":\"a\"}],\"edges\":[[\"a\",\"a\"]]}", "'a' is to wait for itself");
  expect("{\"tasks\":[{\"id\":\"a\"}],\"edges\":[[\"a\"]]}", "has 1 entries");
  expect("{\"tasks\":[{\"id\":\"a\",\"on\":[1]}]}", "0 processors");
  expect("{\"processors\":[\"P\"],\"tasks\":[{\"id\":\"a\",\"on\":[1]},{\"id\":\"b\"}]}",
         "'b' has 0 entries");
  expect("{\"tasks\":[{\"id\":\"a\",\"widths\":[0]}]}", "got 0");
  expect("{\"tasks\":[{\"id\":\"a\",\"priority\":\"urgent\"}]}", "'urgent'");
  expect("{\"schema\":\"kilter.bench/1\"}", "'kilter.bench/1'");
  // a terminal would obey it
  expect("{\"tasks\":[{\"id\":\"a\",\"x\u009b31m\":1}]}", "'x\\u009b31m'");
  expect("{\"tasks\":[]}", "no task");
  expect("{\"tasks\":[{\"id\":\"a\"}", "the file ends");
  expect("{\"tasks\":[{\"id\":\"a\"}]} x", "found 'x'");
  expect("{\"tasks\":[{\"id\":\"\\ud800\"}]}", "surrogate");
  expect("{\"tasks\":" + std::string(100'000, '['), "an object");
  expect("{\"tasks\":[{\"id\":" + std::string(100'000, '['), "a string");
}

TEST(GraphJson, RefusesOtherEncodings) {
  EXPECT_TRUE(contains(json_error("\xFF\xFE{\0"), "UTF-16"));
  EXPECT_TRUE(contains(json_error("{\"name\":\n\"\xE4\"}"), ":2: a byte that is not UTF-8"));
  EXPECT_TRUE(contains(json_error(std::string("{\"name\":\0", 9)), "NUL"));
  EXPECT_TRUE(contains(json_error(""), "empty"));
  EXPECT_EQ(ids_of(dags::read_dag("g.json", "\xEF\xBB\xBF{\"tasks\":[{\"id\":\"\xC3\xA4\"}]}")),
            "\xC3\xA4");
}

// ---- the front door -----------------------------------------------------------------------------

TEST(LoadDag, SaysWhatThereIsForAnUnknownName) {
  const std::string message = test::refusal([] { (void)load_dag("choleski:n=4"); });
  EXPECT_TRUE(contains(message, "'choleski:n=4'") && contains(message, "cholesky") &&
              contains(message, "layered"))
      << message;
}

// What `kilter graph info` says of a graph, against graphs whose figures are known.

TEST(DagFacts, AgreeWithTheExampleOfS2) {
  const dag g = dags::read_dag(
      "f", "digraph { node [seconds=1] A -> C -> G -> D -> F; A -> E -> F; B -> G }");
  const dag_facts f = facts_of(g);
  EXPECT_EQ(f.path_tasks, 5u);
  EXPECT_DOUBLE_EQ(f.parallelism(), 1.4);
  EXPECT_DOUBLE_EQ(f.parallelism_by_critical(), 1.4);
  EXPECT_EQ(f.widths, (std::vector<std::uint64_t>{2, 2, 1, 1, 1}));
  EXPECT_EQ(f.roots, 2u);
  EXPECT_EQ(f.sinks, 1u);
}

TEST(DagFacts, TellTheLongestPathInTasksFromThatInSeconds) {
  const dag_facts f =
      facts_of(dags::read_dag("f",
                              "digraph { a [seconds=1] b [seconds=2] c [seconds=9] d [seconds=1] a "
                              "-> b -> d; c -> d [seconds=5]; a -> x -> d }"));
  EXPECT_EQ(f.path_tasks, 3u);
  EXPECT_EQ(f.critical, 4u) << "two paths of three tasks";
  EXPECT_DOUBLE_EQ(f.path_s, 10.0);
  EXPECT_DOUBLE_EQ(f.path_with_edges_s, 15.0);
  EXPECT_DOUBLE_EQ(f.work_s, 13.001);
}

TEST(DagFormats, SayWhatTheyCannotHold) {
  const dag g = load_dag("topcuoglu:tasks=20");
  EXPECT_EQ(dags::lost_in(dags::dag_format_named("json"), g), "");
  EXPECT_EQ(dags::lost_in(dags::dag_format_named("stg"), g),
            "times on processors, widths, seconds of edges");
  EXPECT_EQ(dags::lost_in(dags::dag_format_named("dot"), load_dag("layered:tasks=9")), "widths");
  EXPECT_TRUE(contains(test::refusal([] { (void)dags::dag_format_named("xml"); }),
                       "json, dot, stg, wfcommons"));
}

}  // namespace
}  // namespace kilter
