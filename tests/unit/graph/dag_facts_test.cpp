// What `kilter graph info` says of a graph, against graphs whose figures are known.

#include "graph/dag_facts.hpp"

#include <gtest/gtest.h>

#include "graph_files/dag_formats.hpp"
#include "graph_files/dag_source.hpp"
#include "unit/graph/dag_text.hpp"

namespace kilter {
namespace {

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
  EXPECT_TRUE(contains(message_of([] { (void)dags::dag_format_named("xml"); }),
                       "json, dot, stg, wfcommons"));
}

}  // namespace
}  // namespace kilter
