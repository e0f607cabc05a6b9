// Graphs as other tools write them: each sample has the tasks, edges and seconds that its file
// tells, and what cannot be meant is refused with file and line. Limits hold in every format.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "graph/dag_facts.hpp"
#include "graph_files/dag_json.hpp"
#include "graph_files/dag_source.hpp"
#include "graph_files/gunzip.hpp"
#include "unit/graph/dag_text.hpp"

namespace kilter {
namespace {

dag sample(const std::string& file) {
  return load_dag(std::string(KILTER_TEST_DATA) + "/graphs/" + file);
}

dag parsed(const std::string& text) { return dags::read_dag("f", text); }

void expect_refusal(const std::string& text, const std::string& part) {
  const std::string message = test::answer_to([&] { (void)parsed(text); });
  EXPECT_TRUE(contains(message, part)) << "'" << part << "' is not in: " << message;
  EXPECT_TRUE(message.starts_with("f:")) << message;
  EXPECT_FALSE(contains(message, "\n")) << message;
  EXPECT_LT(message.size(), 330u) << message;
}

std::string types_of(const dag& g) {
  std::string all;
  for (const dag::task& t : g.tasks) all += (all.empty() ? "" : " ") + g.types[t.type].name;
  return all;
}

// ---- Pegasus ------------------------------------------------------------------------------------

TEST(Pegasus, ReadsTheSameWorkflowFromDaxYamlAndJson) {
  const std::string json =
      R"({"x-pegasus":{"apiLang":"python"},"pegasus":"5.0","name":"diamond","jobs":[
    {"type":"job","name":"preprocess","id":"ID00000","uses":[{"lfn":"f.b1","type":"output","size":1000},{"lfn":"f.b2","type":"output","size":2000}],"profiles":{"pegasus":{"runtime":"13.59"}}},
    {"type":"job","name":"findrange","id":"ID00001","uses":[{"lfn":"f.b1","type":"input"},{"lfn":"f.c1","type":"output","size":300}],"profiles":{"pegasus":{"runtime":20.41}}},
    {"type":"job","name":"findrange","id":"ID00002","uses":[{"lfn":"f.b1","type":"input"},{"lfn":"f.b2","type":"input"},{"lfn":"f.c2","type":"output","size":400}],"profiles":{"pegasus":{"runtime":16.5}}},
    {"type":"job","name":"analyze","id":"ID00003","uses":[{"lfn":"f.c1","type":"input"},{"lfn":"f.c2","type":"input"}],"profiles":{"pegasus":{"runtime":10}}}],
    "jobDependencies":[{"id":"ID00000","children":["ID00001","ID00002"]},{"id":"ID00001","children":["ID00003"]},{"children":["ID00003"],"id":"ID00002"}]})";
  for (const dag& g : {sample("diamond.dax"), sample("diamond.yml"), parsed(json)}) {
    EXPECT_EQ(g.name, "diamond");
    EXPECT_EQ(ids_of(g), "ID00000 ID00001 ID00002 ID00003");
    EXPECT_EQ(types_of(g), "preprocess findrange findrange analyze");
    EXPECT_EQ(edges_of(g), "ID00000-ID00001 ID00000-ID00002 ID00001-ID00003 ID00002-ID00003");
    EXPECT_DOUBLE_EQ(seconds_of(g), 60.5);
    ASSERT_EQ(g.edges.size(), 4u);
    EXPECT_EQ(g.edges[1].bytes, 3000.0) << "both files that the one writes and the other reads";
    EXPECT_EQ(g.edges[3].bytes, 400.0);
    EXPECT_EQ(notes_of(g), "");
  }
}

TEST(Pegasus, NamesLineAndValueOfWhatIsWrongInDax) {
  expect_refusal("<adag>\n<job id=\"a\" name=\"x\" runtime=\"soon\"/></adag>",
                 "f:2: the run time of a job must be a number of at least 0, got 'soon'");
  expect_refusal("<adag><job id=\"a\"/>\n<job id=\"a\"/></adag>",
                 "f:2: a second task with the id 'a'");
  expect_refusal("<adag><job id=\"a\"/>\n<child ref=\"a\"><parent ref=\"b\"/></child></adag>",
                 "f:2: there is no task with the id 'b'");
  expect_refusal("<adag><job name=\"a\"/></adag>", "f:1: the id of a task is empty");
  expect_refusal("<adag><job id=\"a\"/><parent ref=\"a\"/></adag>",
                 "a <parent> that is in no <child>");
  expect_refusal("<adag>\n<job id=\"a\">\n</adag>", "f:3: no valid XML: mismatched tag");
  expect_refusal("<adag><job id=\"a\"", "no valid XML");
  expect_refusal("<adag/>", "has no task");
  expect_refusal(
      "<html><body/></html>",
      "is XML of <html>; of XML, Kilter reads Pegasus DAX (<adag>) and GraphML (<graphml>)");
}

TEST(Pegasus, NamesLineAndValueOfWhatIsWrongInYaml) {
  expect_refusal("pegasus: '5.0'\njobs:\n- {id: a, profiles: {pegasus: {runtime: -1}}}\n",
                 "f:3: the run time of a job must be a number of at least 0, got -1");
  expect_refusal("pegasus: '5.0'\njobs:\n- {id: a}\n- {id: a}\n",
                 "f:4: a second task with the id 'a'");
  expect_refusal("pegasus: '5.0'\njobs:\n- {id: a}\njobDependencies:\n- id: a\n  children: [b]\n",
                 "f:6: there is no task with the id 'b'");
  expect_refusal("pegasus: '4.9'\njobs: []\n", "f:1: a workflow of Pegasus '4.9'");
  expect_refusal("pegasus: '5.0'\njobs:\n- {id: a}\n- {id: b\n",
                 "f:5: no valid YAML: end of map flow not found");
  expect_refusal("pegasus: '5.0'\njobs:\n- &x {id: a}\n- *x\n", "f:4: an alias (*name)");
  expect_refusal("pegasus: '5.0'\njobs: []\n", "has no task");
}

// ---- GraphML ------------------------------------------------------------------------------------

TEST(NetworkX, WritesOneGraphInThreeFormats) {
  for (const char* file :
       {"stencil.graphml", "stencil.graphml.gz", "stencil.gml", "stencil.json"}) {
    const dag g = sample(file);
    EXPECT_EQ(ids_of(g), "read u0 u1 u2 write");
    EXPECT_EQ(edges_of(g), "read-u0 read-u1 u0-u2 u1-u2 u2-write");
    EXPECT_EQ(types_of(g), "read update update update write");
    EXPECT_DOUBLE_EQ(seconds_of(g), 3.5);
    EXPECT_EQ(g.edges[0].cost_s, 0.125);
    EXPECT_EQ(g.edges[0].bytes, 4096.0);
    EXPECT_EQ(g.edges[4].bytes, 8192.0);
    EXPECT_EQ(
        notes_of(g),
        "weight or cost of 2 edges is taken for seconds, paid if its tasks run on different cores");
  }
}

TEST(GraphMl, ReadsWhatYEdDraws) {
  const dag g = sample("drawn.graphml");
  EXPECT_EQ(types_of(g), "sort sort task");
  EXPECT_EQ(g.edges[0].cost_s, 0.0) << "a label is a name";
  EXPECT_TRUE(contains(notes_of(g), "the numbers that label 1 edge mean nothing")) << notes_of(g);
  EXPECT_TRUE(contains(notes_of(g), "no times in the file: 1 ms each")) << notes_of(g);
}

TEST(GraphMl, NamesLineAndValueOfWhatIsWrong) {
  const std::string head = "<graphml><key id=\"k\" for=\"all\" attr.name=\"seconds\"/>\n";
  expect_refusal(head +
                     "<graph edgedefault=\"undirected\"><node id=\"a\"/><node id=\"b\"/>\n<edge "
                     "source=\"a\" target=\"b\"/></graph></graphml>",
                 "f:3: the edge between 'a' and 'b' has no direction");
  expect_refusal(
      head + "<graph><node id=\"a\"><data key=\"k\">soon</data></node></graph></graphml>",
      "f:2: the seconds of a task must be a number of at least 0, got 'soon'");
  expect_refusal(
      head + "<graph><node id=\"a\"/>\n<edge source=\"a\" target=\"z\"/></graph></graphml>",
      "f:3: there is no task with the id 'z'");
  expect_refusal(head + "<graph><node id=\"a\">\n<graph/></node></graph></graphml>",
                 "f:3: a graph within node 'a'");
  expect_refusal(head + "<graph><hyperedge/></graph></graphml>", "a hyperedge");
  expect_refusal(head + "<graph><node id=\"a\"/></graph>\n<graph/></graphml>",
                 "f:3: a second graph");
  expect_refusal(head + "</graphml>", "has no task");
}

// ---- GML ----------------------------------------------------------------------------------------

TEST(Gml, TakesNamesForIdsWhereTheyDiffer) {
  const dag g = parsed(
      "# by hand\nCreator \"igraph\"\nVersion 1\ngraph [ directed 1 edge [ source 1 target 0 ]\n"
      "node [ id 0 label \"&#228; &quot;x&quot; &x;\" seconds +2E0 graphics [ w [ x 1 ] ] ]\n"
      "node [ id 1 label \"gemm(1)\" Weight 1 ] ]");
  EXPECT_EQ(ids_of(g), "gemm(1) \u00e4 \"x\" &x;");
  EXPECT_EQ(seconds_of(g), 3.0);
  const auto of = [](const std::string& nodes) {
    return ids_of(parsed("graph [ directed 1 " + nodes + "]"));
  };
  EXPECT_EQ(of("node [ id 7 label \"a\" ] node [ id 8 label \"a\" ]"), "7 8") << "types";
  EXPECT_EQ(of("node [ id 7 label \"a\" ] node [ id 8 ]"), "7 8");
  EXPECT_EQ(of("node [ id 7 label \"a\" name \"b\" ] node [ id 8 name \"c\" ]"), "b c") << "igraph";
}

TEST(Gml, SaysWhatUndirectedMeansAndWhatToWrite) {
  const std::string nodes = "node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 ] ]";
  expect_refusal(
      "graph [\n" + nodes,
      "f:1: no 'directed 1', so edges have no direction in GML; write 'directed 1' behind "
      "'graph [' if each runs from its source to its target");
  expect_refusal("graph [\ndirected 0 " + nodes, "f:2: 'directed 0': edges have no direction");
  EXPECT_EQ(edges_of(parsed("GRAPH\n[\nDirected 1 " + nodes)), "0-1");
  expect_refusal("graph { a -- b }",
                 "f:1: this graph has no directions; a graph of tasks is a digraph");
}

TEST(Gml, NamesLineAndValueOfWhatIsWrong) {
  const std::string head = "graph [ directed 1\n";
  expect_refusal(head + "node [ id 0 seconds \"soon\" ] ]",
                 "f:2: the seconds of a task must be a number of at least 0, got 'soon'");
  expect_refusal(head + "node [ id 0 seconds -1 ] ]", "at least 0, got -1");
  expect_refusal(head + "node [ id 0 seconds NAN ] ]", "must be a number of at least 0, got nan");
  expect_refusal(head + "node [ id 0 ]\nnode [ id 0 ] ]", "f:3: a second task with the id '0'");
  expect_refusal(head + "node [ label \"a\" ] ]", "f:2: a node without an id");
  expect_refusal(head + "node [ id 0 ] edge [ source 0 ] ]", "f:2: an edge without a target");
  expect_refusal(head + "node [ id 0 ]\nedge [ source 0 target 3 ] ]",
                 "f:3: there is no task with the id '3'");
  expect_refusal(head + "node [ id 0 label [ x 1 ] ] ]", "f:2: expected a value, found '['");
  expect_refusal(head + "node 5 ]", "f:2: expected '[', found '5'");
  expect_refusal(head + "node [ id 0 5 ] ]", "f:2: expected a key or ']', found '5'");
  expect_refusal(head + "node [ id \"0 ]", "f:2: this string has no end");
  expect_refusal(head + "node [ id 0 ]", "f:2: the file ends where a key or ']' should be");
  expect_refusal(head + "]\ngraph [ directed 1 ]", "f:3: a second graph; one graph a file is read");
  expect_refusal(head + "]", "has no task");
}

// ---- node-link JSON -----------------------------------------------------------------------------

TEST(NodeLink, ReadsWhatNetworkXWrites) {
  const dag multi = parsed(
      R"({"edges":[{"weight":1,"source":0,"target":1,"key":0},{"weight":2,"source":0,"target":1,"key":1}],
          "nodes":[{"id":0,"SECONDS":"1.5","b":true,"l":[1,2]},{"id":1,"seconds":2,"type":null}],
          "multigraph":true,"directed":true,"graph":{"name":"m","x":[1]}})");
  EXPECT_EQ(multi.name, "m");
  EXPECT_EQ(edges_of(multi), "0-1") << "parallel edges are one, and the dearer stays";
  EXPECT_EQ(multi.edges[0].cost_s, 2.0);
  EXPECT_EQ(seconds_of(multi), 3.5);
  const dag grid = parsed(
      R"({"directed":true,"graph":[],"nodes":[{"id":[0, "a"]},{"id":[0, 1]}],"links":[{"source":[0,1],"target":[ 0,"a" ]}]})");
  EXPECT_EQ(edges_of(grid), "[0,1]-[0,\"a\"]") << "tuples of Python are lists";
  EXPECT_EQ(notes_of(grid), "no times in the file: 1 ms each");
  EXPECT_EQ(ids_of(parsed(R"({"edges":[],"tasks":[{"id":"a"}],"schema":"kilter.graph/1"})")), "a")
      << "edges are of both formats";
}

TEST(NodeLink, NamesLineAndValueOfWhatIsWrong) {
  const std::string head = "{\"directed\":true,\n\"links\":[],\"nodes\":[";
  expect_refusal("{\"multigraph\":false,\n\"directed\":false,\"nodes\":[]}",
                 "f:2: \"directed\": false says that edges have no direction; write true if each "
                 "runs from its source to its target");
  expect_refusal("{\"nodes\":[],\n\"directed\":1}", "f:2: \"directed\" must be true, got '1'");
  expect_refusal("{\"nodes\":[{\"id\":0}],\"links\":[]}", "f: has no \"directed\"; node-link JSON");
  expect_refusal("{\"directed\":true,\"nodes\":[],\"adjacency\":[]}",
                 "f: has no \"links\" or \"edges\"; node-link JSON");
  expect_refusal("{\"graph\":{\"nodes\":{},\"edges\":[]}}", "f: has no \"nodes\"; node-link JSON");
  expect_refusal(head + "{\"x\":1}]}", "f:2: a node without an id");
  expect_refusal(head + "{\"id\":true}]}", "f:2: expected a string, found 'true'");
  expect_refusal(head + "{\"id\":1,\"seconds\":[1]}]}", "f:2: expected a string, found '['");
  expect_refusal(head + "{\"id\":1,\"seconds\":true}]}",
                 "f:2: the seconds of a task must be a number of at least 0, got 'true'");
  expect_refusal(head + "{\"id\":1,\"seconds\":NaN}]}", "f:2: expected a JSON value, found 'NaN'");
  expect_refusal(head + "{\"id\":1},{\"id\":1}]}", "f:2: a second task with the id '1'");
  expect_refusal(head + "{\"id\":1}],\n\"edges\":[{\"source\":1}]}",
                 "f:3: an edge without a target");
  expect_refusal(head + "{\"id\":1}],\n\"edges\":[{\"source\":1,\"target\":2}]}",
                 "f:3: there is no task with the id '2'");
  expect_refusal(head + "]}", "has no task");
}

// ---- builds -------------------------------------------------------------------------------------

const std::string build_graph = std::string(KILTER_TEST_DATA) + "/graphs/hello.dot";

TEST(Ninja, ReadsABuildWithTheTimesOfItsLog) {
  const std::string log = std::string(KILTER_TEST_DATA) + "/graphs/hello/.ninja_log";
  for (const std::string& from : {build_graph, build_graph + ":times=" + log}) {
    const dag g = load_dag(from);
    EXPECT_EQ(ids_of(g), "config.hpp main.o text.o hello doc.html all");
    EXPECT_EQ(types_of(g),
              "GENERATE CXX_COMPILER CXX_COMPILER CXX_EXECUTABLE_LINKER GENERATE_DOC phony")
        << "a rule as far as CMake's __";
    EXPECT_EQ(
        edges_of(g),
        "config.hpp-main.o config.hpp-text.o main.o-hello text.o-hello hello-all doc.html-all")
        << "order-only inputs are waited for, and sources are no tasks";
    EXPECT_DOUBLE_EQ(task_named(g, "main.o").seconds, 0.484);
    EXPECT_DOUBLE_EQ(task_named(g, "doc.html").seconds, 1e-3) << "never made";
    EXPECT_EQ(task_named(g, "all").seconds, 0.0);
    EXPECT_TRUE(contains(notes_of(g), "times of 4 tasks are from ")) << notes_of(g);
    EXPECT_TRUE(contains(notes_of(g), "1 of 6 tasks have no time in ")) << notes_of(g);
    EXPECT_FALSE(g.without_times);
  }
}

TEST(Ninja, WithoutALogSaysHowToNameOne) {
  const std::string copy = testing::TempDir() + "/graph.dot";
  std::filesystem::copy_file(build_graph, copy, std::filesystem::copy_options::overwrite_existing);
  const dag g = load_dag(copy);
  EXPECT_TRUE(g.without_times);
  EXPECT_EQ(notes_of(g),
            "no times in the file: 1 ms each\n"
            "the times of a build are in its .ninja_log; name it: GRAPH:times=build/.ninja_log");
  std::filesystem::remove(copy);
}

TEST(Ninja, RefusesLogsThatAreNone) {
  const auto times = [](const std::string& text, const std::string& graph = build_graph) {
    const std::string log = testing::TempDir() + "/log";
    std::ofstream(log) << text;
    return test::answer_to([&] { (void)load_dag(graph + ":times=" + log); });
  };
  const std::string head = "# ninja log v6\n";
  EXPECT_TRUE(
      contains(times("# ninja log v8\n"), "log:1: version 8 of Ninja's log; versions 5, 6 and 7"));
  EXPECT_TRUE(contains(times("4 tasks\n"),
                       "log:1: a log of Ninja begins with '# ninja log v5', got '4 tasks'"));
  EXPECT_TRUE(
      contains(times(head + "0\t1\t2\thello\n"), "log:2: a line of Ninja's log is start, end,"));
  EXPECT_TRUE(
      contains(times(head + "5\t1\t2\thello\tf\n"), "log:2: the end 1 is before the start 5"));
  EXPECT_TRUE(contains(times(head + "x\t1\t2\thello\tf\n"), "must be a number, got 'x'"));
  EXPECT_TRUE(contains(times(head + "0\t1\t2\tother\tf\n"), "log: has the time of no target of "));
  EXPECT_EQ(times(head + "0\t1\t2\thello\tf\n0\t3\t2\thello\tf\n"), "accepted");
  EXPECT_TRUE(contains(times(head, std::string(KILTER_TEST_DATA) + "/graphs/simgrid.dot"),
                       "is no graph of ninja -t graph, so it takes no times from '"));
  EXPECT_TRUE(contains(test::refusal([] { (void)load_dag("x.dot:times="); }),
                       "name a log of Ninja behind"));
  EXPECT_TRUE(contains(test::refusal([] { (void)load_dag("cholesky:times=1"); }),
                       "unknown parameter 'times'"));
  std::filesystem::remove(testing::TempDir() + "/log");
}

TEST(Ninja, TellsWhereTheGraphOfABuildIs) {
  for (const char* text :
       {"# ninja log v5\n0\t1\t2\ta\tf\n", "# by hand\nninja_required_version = 1.5\n"})
    expect_refusal(text,
                   "does not tell what waits for what; write the graph of the build with "
                   "ninja -C build -t graph >build.dot");
}

TEST(Ninja, NamesLineAndValueOfWhatIsWrong) {
  const std::string head = "digraph ninja {\nrankdir=\"LR\"\n";
  expect_refusal(head + "\"a\" [shape=box]\n}", "f:3: a node without a label");
  expect_refusal(head + "\"a\" [label=\"f\"]\n\"b\" [label=\"g\"]\n\"a\" -> \"b\"\n}",
                 "f:5: an edge of Ninja joins a file and a command");
  expect_refusal(head + "\"a\" [label=\"CC\", shape=ellipse]\n}",
                 "f:3: a command of rule 'CC' makes no file that has a label");
  expect_refusal(head +
                     "\"b\" [label=\"g\"]\n\"a\" -> \"b\" [label=\" CC\"]\n\"c\" -> \"b\" "
                     "[label=\" LD\"]\n}",
                 "f:5: a second task with the id 'g'");
  expect_refusal(head + "\"b\" [label=\"g\"]\n\"b\" -> \"b\" [label=\" CC\"]\n}",
                 "is to wait for itself");
  expect_refusal(head + "}", "has no task");
  EXPECT_EQ(ids_of(parsed("digraph ninja { a -> b }")), "a b") << "a drawing with that name";
}

TEST(Xml, DefinesNoEntities) {
  const std::string laughs =
      "<!DOCTYPE graphml [<!ENTITY a \"ha\"><!ENTITY b "
      "\"&a;&a;&a;&a;&a;&a;\">]>\n<graphml><graph><node id=\"&b;\"/></graph></graphml>";
  expect_refusal(laughs, "the file defines a document type of its own");
  expect_refusal(
      "<!DOCTYPE graphml SYSTEM \"x\">\n<graphml><graph><node id=\"a\"><data "
      "key=\"k\">&b;</data></node></graph></graphml>",
      "f:2: nothing defines &b;");
}

// ---- StarPU -------------------------------------------------------------------------------------

TEST(StarPu, ReadsARecordedRun) {
  const dag g = sample("tasks.rec");
  EXPECT_EQ(ids_of(g), "2 4 5 7");
  EXPECT_EQ(types_of(g), "chol_model_11 chol_model_21 chol_model_22 chol_model_11");
  EXPECT_EQ(edges_of(g), "2-4 4-5 5-7");
  EXPECT_DOUBLE_EQ(seconds_of(g), 14.25e-3) << "StarPU's times are milliseconds";
  EXPECT_EQ(g.edges[1].bytes, 3686400.0) << "the tile that the one wrote and the other read";
  EXPECT_EQ(notes_of(g), "1 dependencies on tasks that the file does not have are left out");
}

TEST(StarPu, NamesLineAndValueOfWhatIsWrong) {
  expect_refusal("JobId: 1\nStartTime: 5\nEndTime: 4\n", "f:3: EndTime 4 is before StartTime 5");
  expect_refusal("JobId: 1\nStartTime: x\nEndTime: 4\n",
                 "f:2: StartTime must be a number of at least 0, got 'x'");
  expect_refusal("JobId: 1\n\nName: a\n\nJobId: 2\n", "f:3: a record without JobId");
  expect_refusal("JobId: 1\n\nJobId: 1\n", "f:3: a second task with the id '1'");
  expect_refusal("JobId: 1\nDependsOn: 1\n", "f:2: task '1' is to wait for itself");
  expect_refusal("JobId: 1\nhello\n", "f:2: a line of a record is 'Field: value', got 'hello'");
}

// ---- STG with costs -----------------------------------------------------------------------------

TEST(Stg, ReadsProcessorsAndCommunicationCosts) {
  const std::string in_line =
      "6 2\n0 3 0\n1 5 1 0 2\n2 2 1 0 1\n3 2 1 0 3\n4 4 1 0 4\n5 1 3 1 2 2 3 4 1\n";
  for (const dag& g : {sample("costs.stg"), parsed(in_line)}) {
    EXPECT_EQ(edges_of(g), "0-1 0-2 0-3 0-4 1-5 2-5 4-5");
    EXPECT_EQ(seconds_of(g), 17.0);
    EXPECT_EQ(g.edges[3].cost_s, 4.0);
    EXPECT_EQ(g.edges[5].cost_s, 3.0);
    EXPECT_EQ(notes_of(g), "the file is for 2 processors; that is not used");
  }
}

TEST(Stg, TellsTheLayoutsApart) {
  EXPECT_EQ(edges_of(parsed("3 4\n0 1 0\n1 1 1 0\n2 1 2 0 1\n")), "0-1 0-2 1-2")
      << "processors, and no costs";
  const dag g = parsed("3\n0 1 0\n1 1 1 0 9\n2 1 2 0 8 1 7\n");
  EXPECT_EQ(edges_of(g), "0-1 0-2 1-2") << "costs, and no processors";
  EXPECT_EQ(g.edges[2].cost_s, 7.0);
  expect_refusal("3 4\n0 1 0\n1 1 1 0 x\n2 1 1 0 1\n",
                 "f:3: a communication cost must be a number of at least 0, got 'x'");
}

TEST(SimGrid, ReadsItsDot) {
  const dag g = sample("simgrid.dot");
  EXPECT_EQ(edges_of(g), "root-0 0-1 0-2 1-end 2-end");
  EXPECT_NEAR(seconds_of(g), 30.000000382, 1e-9);
  EXPECT_EQ(g.edges[1].bytes, 10001.389601075407);
}

// ---- gzip ---------------------------------------------------------------------------------------

/// `gzip -n` of "3\n0 1 0\n1 1 1 0\n2 1 1 1\n".
std::string packed() {
  static constexpr unsigned char bytes[] = {
      0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0x33, 0xe6, 0x32,
      0x50, 0x30, 0x54, 0x30, 0xe0, 0x32, 0x54, 0x30, 0x04, 0xd3, 0x46, 0x60, 0xda,
      0x90, 0x0b, 0x00, 0x0e, 0x5a, 0xc2, 0x2f, 0x18, 0x00, 0x00, 0x00};
  return {reinterpret_cast<const char*>(bytes), sizeof bytes};
}

TEST(Gzip, IsUnpackedByItsFirstBytes) {
  EXPECT_EQ(edges_of(parsed(packed())), "0-1 1-2");
  EXPECT_EQ(dags::gunzip("f", packed() + packed(), 1000),
            "3\n0 1 0\n1 1 1 0\n2 1 1 1\n3\n0 1 0\n1 1 1 0\n2 1 1 1\n")
      << "gzip joins files so";
}

TEST(Gzip, RefusesWhatIsDamagedCutOrTooLarge) {
  expect_refusal(packed().substr(0, 30), "f: its compressed data is cut off");
  expect_refusal(packed().substr(0, 5), "f: its compressed data is cut off");
  expect_refusal(packed() + "more", "f: has 4 bytes behind its compressed data");
  std::string wrong = packed();
  wrong[30] = static_cast<char>(wrong[30] + 1);
  expect_refusal(wrong, "f: its compressed data is damaged (incorrect data check)");
  EXPECT_EQ(test::refusal([] { (void)dags::gunzip("f", packed(), 20); }),
            "f: unpacks to more than 20 bytes; no graph that Kilter can hold does");
}

// ---- limits in every format ---------------------------------------------------------------------

std::string repeated(const std::string& text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

TEST(Limits, NestingIsRefusedInEveryFormatWithOneLine) {
  constexpr std::size_t deep = 400'000;
  for (const char* before :
       {"{\"tasks\":[{\"id\":\"a\",\"on\":", "{\"name\":", "{\"description\":",
        "{\"workflow\":{\"specification\":", "{\"workflow\":{\"tasks\":[{\"files\":",
        "{\"schemaVersion\":\"1.4\",\"x\":", "{\"jobs\":", "{\"pegasus\":\"5.0\",\"x\":",
        "{\"nodes\":", "{\"nodes\":[{\"id\":"})
    expect_refusal(before + repeated("[", deep), "");
  expect_refusal("{\"workflow\":{\"x\":" + repeated("{\"a\":", deep), "nested more than 100 deep");
  expect_refusal("pegasus: '5.0'\njobs: " + repeated("[", 100) + repeated("]", 100),
                 "f:2: values are nested more than 100 deep");
  for (const char* open : {"[", "{a: ", "- ", "? ", "{"})
    expect_refusal("pegasus: '5.0'\njobs: " + repeated(open, deep), "f:2: ");
  std::string indented = "pegasus: '5.0'\njobs:\n";
  for (std::size_t i = 1; i < 600; ++i) indented += std::string(i, ' ') + "a:\n";
  expect_refusal(indented, "f:102: values are nested more than 100 deep");
  for (const char* root : {"<adag>", "<graphml>"})
    expect_refusal(root + repeated("<a>", deep), "f:1: elements are nested more than 100 deep");
  expect_refusal("digraph " + repeated("{", deep), "nested more than 100 deep");
  expect_refusal("graph [ x " + repeated("[ x ", deep), "f:1: lists are nested more than 100 deep");
  expect_refusal("digraph { a [label=" + repeated("<", deep), "has no end");
  expect_refusal("digraph { a -> " + repeated("subgraph {", deep), "nested more than 100 deep");
}

TEST(Limits, AmountsThatNoSumCanHoldAreRefusedInEveryFormat) {
  const std::string most = "must be a number of at most 1e+18, got 1e+300";
  expect_refusal("{\"tasks\":[{\"id\":\"a\",\n\"seconds\":1e300}]}",
                 "f:2: the seconds of a task " + most);
  expect_refusal("{\"workflow\":{\"tasks\":[\n{\"id\":\"a\",\"runtime\":1e300}]}}",
                 "f:2: the run time of a task " + most);
  expect_refusal("digraph {\na [seconds=1e300] }", "f:2: the seconds of a task " + most);
  expect_refusal("digraph {\na -> b [size=1e300] }", "f:2: the size of an edge in bytes " + most);
  expect_refusal("graph [\nnode [ id 0 seconds 1e300 ] ]", "f:2: the seconds of a task " + most);
  expect_refusal("{\"directed\":true,\"nodes\":[\n{\"id\":0,\"size\":1e300}]}",
                 "f:2: the size of a task in flops " + most);
  expect_refusal("1\n0 1e300 0\n", "f:2: the time of a task " + most);
  expect_refusal("<adag>\n<job id=\"a\" runtime=\"1e300\"/></adag>",
                 "f:2: the run time of a job " + most);
  expect_refusal("pegasus: '5.0'\njobs:\n- {id: a, runtime: 1e300}\n",
                 "f:3: the run time of a job " + most);
  expect_refusal("JobId: 1\nStartTime: 1\nEndTime: 1e300\n", "f:3: EndTime " + most);
  const dag g =
      parsed("digraph { node [seconds=1e18] a -> b -> c -> d [seconds=1e18, bytes=1e18] }");
  EXPECT_EQ(facts_of(g).path_with_edges_s, 7e18);
}

// ---- what nobody reads --------------------------------------------------------------------------

TEST(ReadDag, ListsWhatItReads) {
  for (const char* text : {"hello", "a: 1\nb: 2\n", "[1,2]", "- a\n"})
    expect_refusal(text,
                   "is no graph file that Kilter reads; it reads " + dags::readable_formats());
}

}  // namespace
}  // namespace kilter
