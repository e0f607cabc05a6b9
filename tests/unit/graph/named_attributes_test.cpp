// What attributes of nodes and edges mean where a format leaves their names open, and that nothing
// is guessed in silence.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "graph_files/dag_source.hpp"
#include "unit/graph/dag_text.hpp"

namespace kilter {
namespace {

dag drawn(const std::string& body) { return dags::read_dag("f", "digraph {" + body + "}"); }

std::string type_of(const dag& g, const std::string& id) {
  return g.types[std::ranges::find(g.tasks, id, &dag::task::id)->type].name;
}

TEST(NamedAttributes, ALabelIsANameAndNotATime) {
  const dag g = drawn(
      R"(node [seconds=1] a -> b [label="0"]; a -> c [label="1"]; b -> d [label="0.5", seconds=2])");
  EXPECT_EQ(g.edges[0].cost_s, 0.0);
  EXPECT_EQ(g.edges[1].cost_s, 0.0) << "an edge numbered 1 does not cost a second";
  EXPECT_EQ(g.edges[2].cost_s, 2.0);
  EXPECT_EQ(
      notes_of(g),
      "a label is a name: the numbers that label 2 edges mean nothing; write seconds= or bytes=");
}

TEST(NamedAttributes, SimGridsSizesAreFlopsOfTasksAndBytesOfEdges) {
  const dag g = drawn(
      R"(0 [size="10000000129.45", alpha="0.14"]; 1 [size="2e9"]; root -> 0 [size="-1"]; 0 -> 1 [size="10001.4"]; 1 -> end [size="-1"])");
  EXPECT_DOUBLE_EQ(task_named(g, "0").seconds, 10.00000012945);
  EXPECT_EQ(task_named(g, "1").seconds, 2.0);
  EXPECT_EQ(edges_of(g), "root-0 0-1 1-end");
  EXPECT_EQ(g.edges[1].bytes, 10001.4);
  EXPECT_EQ(g.edges[2].bytes, 0.0) << "-1: nothing is handed over";
  EXPECT_TRUE(contains(
      notes_of(g),
      "size of 2 tasks is taken for flops, as in SimGrid's files, and 1e9 of them for a second"))
      << notes_of(g);
  EXPECT_TRUE(contains(notes_of(g), "size of 1 edge is taken for bytes")) << notes_of(g);
  EXPECT_TRUE(
      contains(notes_of(g), "2 of 4 tasks have no time (seconds=); each is taken to last 1 ms"))
      << notes_of(g);
}

TEST(NamedAttributes, SizeOfThePictureIsNone) {
  const dag g = drawn(R"(size="7,5"; graph [size="7,5"]; a [seconds=1])");
  EXPECT_EQ(seconds_of(g), 1.0);
  EXPECT_EQ(notes_of(g), "");
}

TEST(NamedAttributes, SayWhereATimeWasTakenFromAnotherName) {
  EXPECT_EQ(notes_of(drawn("a [seconds=1]; b [runtime=2]; a -> b [seconds=1]")), "");
  EXPECT_EQ(notes_of(drawn("a [weight=1]; b [cost=2]; a -> b [weight=3]")),
            "weight or cost of 2 tasks is taken for seconds\nweight or cost of 1 edge is taken for "
            "seconds, paid if its tasks run on different cores");
  const dag half = drawn("a -> b [seconds=1]; c [seconds=1]");
  EXPECT_EQ(notes_of(half), "2 of 3 tasks have no time (seconds=); each is taken to last 1 ms");
  EXPECT_EQ(half.assumed_times, 2u);
  EXPECT_FALSE(half.without_times);
}

TEST(NamedAttributes, SayThatAFileHasNoTimesAtAll) {
  const dag g = drawn("a -> b [seconds=1]");
  EXPECT_EQ(notes_of(g), "no times in the file: 1 ms each") << "an edge's time is none of a task";
  EXPECT_TRUE(g.without_times);
  EXPECT_FALSE(drawn("a [seconds=0]").without_times);
}

TEST(NamedAttributes, LabelsThatTasksShareAreTheirTypes) {
  const dag g = drawn(
      R"(node [seconds=1] a [label="gemm"]; b [label="gemm"]; c [label="potrf"]; d [label="potrf"]; e [label="gemm", type="own"]; f [class="x"])");
  EXPECT_EQ(type_of(g, "a"), "gemm");
  EXPECT_EQ(type_of(g, "b"), "gemm");
  EXPECT_EQ(type_of(g, "d"), "potrf");
  EXPECT_EQ(type_of(g, "e"), "own");
  EXPECT_EQ(type_of(g, "f"), "x");
  EXPECT_EQ(notes_of(g), "labels of 4 tasks are taken for types");
}

TEST(NamedAttributes, NumbersOfTasksInTheirLabelsMakeNoTypes) {
  const dag g = drawn(
      R"x(node [seconds=1] a [label="gemm(0,1)"]; b [label="gemm(1,1)"]; c [label="POTRF_1"]; d [label="POTRF 2\nat 3 s"]; e [label="7"])x");
  EXPECT_EQ(type_of(g, "b"), "gemm");
  EXPECT_EQ(type_of(g, "d"), "POTRF");
  EXPECT_EQ(type_of(g, "e"), "task");
  EXPECT_EQ(g.types.size(), 3u);
}

TEST(NamedAttributes, LabelsOfSnakemakeNameTheRule) {
  const auto dag_of_rules = [](const std::string& body) {
    return dags::read_dag("f", "digraph snakemake_dag {" + body + "}");
  };
  const dag g = dag_of_rules(
      R"x(0[label = "all"]; 1[label = "map1\ns: A", style="rounded,dashed"]; 2[label = "map2"])x");
  EXPECT_EQ(type_of(g, "0"), "all") << "each rule once, as in --rulegraph";
  EXPECT_EQ(type_of(g, "1"), "map1") << "the number is the rule's own";
  EXPECT_EQ(type_of(g, "2"), "map2");
  EXPECT_EQ(notes_of(g), "no times in the file: 1 ms each") << "nothing is guessed of types";
  const dag files = dag_of_rules(
      R"x(0 [shape=none, label=<<table border="2">
<tr><td><b><font point-size="18">sort</font></b></td></tr></table>>]; 1 [label=<<b></b>>])x");
  EXPECT_EQ(type_of(files, "0"), "sort") << "--filegraph draws tables";
  EXPECT_EQ(type_of(files, "1"), "task");
}

TEST(NamedAttributes, LabelsOfNextflowNameTheProcess) {
  const dag g = drawn(
      R"(v0 [shape=point,label="",fixedsize=true,width=0.1,xlabel="Channel.of"]; v1 [label="A:B:ALIGN"];
         v2 [shape=circle,label="",fixedsize=true,width=0.1,xlabel="map"]; v3 [label="SORT_2"]; v4 [shape=point];
         v0 -> v1 [label="reads"]; v1 -> v2; v2 -> v3; v3 -> v4)");
  EXPECT_EQ(type_of(g, "v0"), "channel");
  EXPECT_EQ(type_of(g, "v1"), "ALIGN");
  EXPECT_EQ(type_of(g, "v2"), "operator");
  EXPECT_EQ(type_of(g, "v3"), "SORT_2");
  EXPECT_EQ(type_of(g, "v4"), "channel");
  EXPECT_EQ(task_named(g, "v2").seconds, 0.0) << "it runs nothing";
  EXPECT_EQ(task_named(g, "v3").seconds, 1e-3);
  EXPECT_EQ(notes_of(g), "no times in the file: 1 ms each");
  EXPECT_EQ(type_of(drawn("a [shape=circle]; b [label=\"A:B\"]"), "a"), "task")
      << "circles that others draw are tasks";
}

TEST(NamedAttributes, LabelsThatNameEachTaskAreNoTypes) {
  EXPECT_EQ(drawn(R"(a [label="A"]; b [label="B"]; c [label="C"])").types.size(), 1u);
  EXPECT_EQ(
      drawn(R"(node [label="\N"]; a; b; c [label=<<b>j</b>>]; d [label="{x|y}"])").types.size(), 1u)
      << "Graphviz's own ways to write a node's name";
}

}  // namespace
}  // namespace kilter
