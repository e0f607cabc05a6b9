// Files of others: what real ones hold is understood, what cannot be is refused with file and line.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>

#include "graph/generator.hpp"
#include "graph_files/build_log.hpp"
#include "graph_files/dag_dot.hpp"
#include "graph_files/dag_formats.hpp"
#include "graph_files/dag_json.hpp"
#include "graph_files/dag_ninja.hpp"
#include "graph_files/dag_source.hpp"
#include "graph_files/dag_stg.hpp"
#include "graph_files/dag_wfcommons.hpp"
#include "unit/fuzz_corpus.hpp"
#include "unit/graph/dag_text.hpp"

namespace kilter {
namespace {

dag read(const std::string& text) { return dags::read_dag("f", text); }

void expect_refused(const std::string& text, const std::string& part) {
  const std::string message = test::refusal([&] { (void)read(text); });
  EXPECT_TRUE(contains(message, part)) << "'" << part << "' is not in: " << message;
  EXPECT_TRUE(message.starts_with("f:")) << message;
  EXPECT_FALSE(contains(message, "\n")) << message;
}

dag recorded(const std::string& file) {
  return load_dag(std::string(KILTER_TEST_DATA) + "/dags/" + file);
}

// What a file cannot tell must not be made up: its tasks are programs of one core.
TEST(Readers, TasksOfRecordedFilesRunOnOneCore) {
  const std::vector<std::uint32_t> one{1};
  EXPECT_EQ(recorded("sarek-dirt02-001.json.gz").widths, one);
  EXPECT_EQ(read("1\n0 0 0\n1 5 1 0\n2 0 1 1\n").widths, one);
  EXPECT_EQ(read("digraph { a -> b }").widths, one);
  EXPECT_EQ(read(R"(<adag><job id="a" runtime="1"/></adag>)").widths, one) << "Pegasus DAX";
  EXPECT_EQ(read("Name: a\nJobId: 1\nStartTime: 0\nEndTime: 1\n").widths, one) << "StarPU";
  EXPECT_TRUE(read(R"({"schema":"kilter.graph/1","tasks":[{"id":"1"}]})").widths.empty())
      << "every width, as lab/docs/graphs.md says";
  EXPECT_TRUE(load_dag("cholesky:n=3").widths.empty()) << "generators stand for kernels";
}

TEST(Readers, WidthsSurviveConversionAndAreNamedWhereAFormatLosesThem) {
  const dag workflow = recorded("sarek-dirt02-001.json.gz"), made = load_dag("cholesky:n=3");
  const dag again = read(dags::graph_json(workflow));
  EXPECT_EQ(again.widths, workflow.widths);
  EXPECT_TRUE(read(dags::graph_json(made)).widths.empty());
  const dag own = read(
      R"({"schema":"kilter.graph/1","widths":[4,2,2],"tasks":[{"id":"1"},{"id":"2","widths":[1]}]})");
  EXPECT_EQ(own.widths, (std::vector<std::uint32_t>{2, 4}));
  EXPECT_EQ(own.widths_of(own.tasks[0]), own.widths);
  EXPECT_EQ(own.widths_of(own.tasks[1]), std::vector<std::uint32_t>{1});
  for (const char* format : {"dot", "stg", "wfcommons"}) {
    const auto loses = [&](const dag& g) {
      return contains(dags::lost_in(dags::dag_format_named(format), g), "widths");
    };
    EXPECT_FALSE(loses(workflow)) << format;
    EXPECT_TRUE(loses(made)) << format;
    EXPECT_TRUE(loses(own)) << format;
  }
  expect_refused(R"({"schema":"kilter.graph/1","widths":[0],"tasks":[{"id":"1"}]})",
                 "a width is a whole number from 1 to 65535, got 0");
}

// ---- WfCommons ----------------------------------------------------------------------------------

TEST(WfCommons, ReadsTheRecordedWorkflows) {
  struct expectation {
    const char* file;
    std::size_t tasks, edges, types;
  };
  for (const expectation& e :
       {expectation{"epigenomics-chameleon-hep-2seq-50k-001.json.gz", 223, 274, 8},
        {"montage-chameleon-2mass-005d-001.json.gz", 58, 114, 8},
        {"montage-chameleon-2mass-02d-001.json.gz", 619, 1641, 8},
        {"rnaseq-dirt02-001.json.gz", 197, 451, 62},
        {"sarek-dirt02-001.json.gz", 26, 50, 26},
        {"soykb-chameleon-10fastq-10ch-001.json.gz", 96, 194, 14}}) {
    const dag g = recorded(e.file);
    EXPECT_EQ(g.tasks.size(), e.tasks) << e.file;
    EXPECT_EQ(g.edges.size(), e.edges) << e.file;
    EXPECT_EQ(g.types.size(), e.types) << e.file;
    EXPECT_GT(seconds_of(g), 0.0) << e.file;
    EXPECT_TRUE(g.processors.empty()) << "recorded machines are no cost matrix";
  }
  const dag montage = recorded("montage-chameleon-2mass-005d-001.json.gz");
  EXPECT_EQ(task_named(montage, "mProject_ID0000001").seconds, 16.712);
  EXPECT_EQ(montage.types[task_named(montage, "mProject_ID0000001").type].name, "mProject");
}

const char* const version_1_4 =
    R"({"name":"w","schemaVersion":"1.4","wms":{"name":"x"},"workflow":{"machines":[{"nodeName":"m"}],"tasks":[
  {"name":"sort_ID02","id":"ID02","runtimeInSeconds":2.5,"parents":["split_ID01"],"files":[{"link":"input","name":"a","sizeInBytes":100},{"link":"input","name":"b","sizeInBytes":7}]},
  {"name":"split_ID01","id":"ID01","runtimeInSeconds":0,"children":[],"files":[{"link":"output","name":"a","sizeInBytes":100}]},
  {"name":"free","id":"ID03","parents":null,"files":[{"link":"input","name":"a","sizeInBytes":100}]}]}})";

TEST(WfCommons, ReadsVersion14WithNamesAsReferencesAndFilesAsEdges) {
  const dag g = read(version_1_4);
  EXPECT_EQ(ids_of(g), "ID01 ID02 ID03");
  EXPECT_EQ(edges_of(g), "ID01-ID02 ID01-ID03")
      << "a task that declares no parent follows the writer of its file";
  EXPECT_EQ(g.edges[0].bytes, 100);
  EXPECT_EQ(g.tasks[1].seconds, 2.5);
  EXPECT_EQ(g.tasks[2].seconds, 0.0) << "no run time was recorded";
  EXPECT_EQ(g.types[g.tasks[1].type].name, "sort");
}

TEST(WfCommons, CountsAnEdgeOnceThatBothEndsDeclare) {
  const dag g = read(
      R"({"workflow":{"specification":{"tasks":[{"name":"n","id":"a","parents":[],"children":["b"],"outputFiles":["f"]},
    {"name":"n","id":"b","parents":["a"],"children":[],"inputFiles":["f"]}],"files":[{"id":"f","sizeInBytes":5}]},
    "execution":{"tasks":[{"id":"b","runtimeInSeconds":3}]}}})");
  ASSERT_EQ(g.edges.size(), 1u);
  EXPECT_EQ(g.edges[0].bytes, 5);
  EXPECT_EQ(task_named(g, "b").seconds, 3);
}

TEST(WfCommons, NamesLineAndValueOfWhatIsWrong) {
  const std::string head = "{\"workflow\":{\"specification\":{\"tasks\":[\n";
  expect_refused(head + "{\"name\":\"a\",\"id\":\"a\",\n\"parents\":[\"b\"]}]}}}",
                 "f:3: there is no task with the id or name 'b'");
  expect_refused(head + "{\"id\":\"a\"},\n{\"id\":\"a\"}]}}}",
                 "f:3: a second task with the id 'a'");
  expect_refused(head + "{\"id\":\"a\",\"parents\":[\"b\"]},{\"id\":\"b\",\"parents\":[\"a\"]}]}}}",
                 "cycle");
  expect_refused(head + "{\"id\":\"a\",\"parents\":[\"a\"]}]}}}",
                 "f:2: task 'a' is to wait for itself");
  expect_refused(head + "{\"id\":\"a\",\"runtimeInSeconds\":-2}]}}}",
                 "f:2: the run time of a task must be a number of at least 0, got -2");
  expect_refused(head + "{\"id\":\"a\"}]},\"execution\":{\"tasks\":[\n{\"id\":\"z\"}]}}}",
                 "f:3: there is no task with the id or name 'z'");
  expect_refused(
      head + "{\"name\":\"n\",\"id\":\"a\"},{\"name\":\"n\",\"id\":\"b\",\"parents\":[\"n\"]}]}}}",
      "several tasks have the name 'n'");
  expect_refused(head + "{\"runtimeInSeconds\":1}]}}}", "f:2: the id of a task is empty");
  expect_refused("{\"workflow\":{\"specification\":{\"tasks\":[]}}}", "has no task");
  expect_refused("{\"workflow\":" + std::string(100'000, '[') + "}", "expected an object");
  expect_refused("{\"workflow\":{\"x\":" + std::string(100'000, '['), "nested more than 100 deep");
}

TEST(WfCommons, ReadsBackWhatItWrites) {
  for (const char* call : {"cholesky:n=4", "fork-join:width=3,stages=2"}) {
    const dag g = on_one_core(load_dag(call));
    const dag again = read(dags::wfcommons_json(g));
    EXPECT_EQ(dags::graph_json(again), dags::graph_json(g));
  }
  const dag montage = recorded("montage-chameleon-2mass-005d-001.json.gz");
  EXPECT_EQ(dags::graph_json(read(dags::wfcommons_json(montage))), dags::graph_json(montage))
      << "bytes of edges too";
}

// ---- STG ----------------------------------------------------------------------------------------

TEST(Stg, ReadsTasksWithOrWithoutTheEmptyOnes) {
  const dag g = read("2\n0 0 0\n1 5 1 0\n2 2.5 1 1\n3 0 1 2\n# a comment 7 8\n");
  EXPECT_EQ(edges_of(g), "0-1 1-2 2-3");
  EXPECT_EQ(seconds_of(g), 7.5);
  EXPECT_EQ(read("2\n1 5 1 2\n2 2 0").tasks.size(), 2u);
}

TEST(Stg, NamesLineAndValueOfWhatIsWrong) {
  expect_refused("3\n0 1 0\n", "f:1: the first line announces 3 tasks");
  expect_refused("4294967296\n0 1 0\n", "4294967296; at most");
  expect_refused("1\n0 -1 0\n", "f:2: the time of a task must be a number of at least 0, got -1");
  expect_refused("1\n0 nan 0\n", "nan");
  expect_refused("1\n0 x 0\n", "'x'");
  expect_refused("2\n0 1 0\n\n0 1 0\n", "f:4: a second task with the id '0'");
  expect_refused("1\n0 1 1 7\n", "f:2: there is no task with the id '7'");
  expect_refused("1\n0 1 1 0\n", "'0' is to wait for itself");
  expect_refused("1\n0 1 4294967296 0\n", "4294967296");
  expect_refused("2\n0 1 3 1", "the file ends");
  expect_refused("2\n0 1 1 1\n1 1 1 0\n", "cycle");
}

TEST(Stg, ReadsBackWhatItWrites) {
  const dag g = load_dag("cholesky:n=4");
  const std::string once = dags::stg_text(g);
  const dag again = read(once);
  EXPECT_EQ(again.tasks.size(), g.tasks.size() + 2) << "with the two empty ones";
  EXPECT_DOUBLE_EQ(seconds_of(again), seconds_of(g));
  EXPECT_EQ(read(dags::stg_text(again)).tasks.size(), again.tasks.size())
      << "which are not added twice";
}

// ---- DOT ----------------------------------------------------------------------------------------

TEST(Dot, ReadsTheUsualWaysToWriteAGraph) {
  const dag g = read(R"(# c
    // c /*
    /* c "{ */
    strict digraph "my graph" {
      graph [rankdir=LR]; node [shape=box, seconds=2] edge [color="red"]
      rankdir = TB
      a [label="A" weight=3, cost=9]; "b \"b\"" [type=fast, priority="high"];
      a -> "b \"b\"" -> c:n:sw [label="0.5"]
      c -> { d e; f -> g } [seconds=0.25, bytes=1e3];
      subgraph cluster_0 { node [seconds=7]; h } -> i
      j [seconds=1e-3 label=<<b>j</b>>]
    })");
  EXPECT_EQ(g.name, "my graph");
  EXPECT_EQ(ids_of(g), "a b \"b\" c d e f g h i j");
  EXPECT_EQ(edges_of(g), "a-b \"b\" b \"b\"-c c-d c-e c-f c-g f-g h-i");
  EXPECT_EQ(task_named(g, "a").seconds, 3);
  EXPECT_EQ(task_named(g, "c").seconds, 2);
  EXPECT_EQ(task_named(g, "h").seconds, 7);
  EXPECT_EQ(task_named(g, "i").seconds, 2);
  EXPECT_EQ(task_named(g, "j").seconds, 1e-3);
  EXPECT_EQ(g.types[task_named(g, "b \"b\"").type].name, "fast");
  EXPECT_EQ(task_named(g, "b \"b\"").priority, priority::high);
  EXPECT_EQ(g.edges[1].cost_s, 0) << "a label is a name, not a time";
  EXPECT_EQ(g.edges[2].bytes, 1e3);
  EXPECT_EQ(read("digraph{a}").tasks[0].seconds, 1e-3) << "without a time: as a generator's task";
}

TEST(Dot, NamesLineAndValueOfWhatIsWrong) {
  expect_refused("graph { a -- b }", "f:1: this graph has no directions");
  expect_refused("digraph {\na -- b }", "f:2: '--' has no direction");
  expect_refused("digraph {\na -> b -> a }", "cycle");
  expect_refused("digraph {\na -> a }", "f:2: task 'a' is to wait for itself");
  expect_refused("digraph {\na [seconds=-1] }",
                 "f:2: the seconds of a task must be a number of at least 0, got -1");
  expect_refused("digraph { a [seconds=nan] }", "nan");
  expect_refused("digraph { a [seconds=abc] }", "'abc'");
  expect_refused("digraph { a [seconds=1e999] }", "must be a number");
  expect_refused("digraph { a -> }", "found '}'");
  expect_refused("digraph { a", "the file ends");
  expect_refused("digraph { \"a", "this string has no end");
  expect_refused("digraph { /* a", "this comment has no end");
  expect_refused("digraph { <<a> }", "has no end");
  expect_refused("digraph { a } digraph { b }", "one graph a file");
  expect_refused("digraph { }", "no task");
  expect_refused("digraph { a ! b }", "'!' has no meaning");
  expect_refused("digraph " + std::string(100'000, '{'), "nested more than 100 deep");
  expect_refused("hello", "is no graph file");
  expect_refused("%PDF-1.4", "is no graph file");
}

TEST(Dot, ReadsBackWhatItWrites) {
  const dag g = on_one_core(load_dag("cholesky:n=4,cost=0.5"));
  EXPECT_EQ(dags::graph_json(read(dags::dot_text(g))), dags::graph_json(g));
  const dag layered = on_one_core(load_dag("layered:tasks=20"));
  EXPECT_EQ(dags::graph_json(read(dags::dot_text(layered))), dags::graph_json(layered));
}

// ---- what the fuzzer made -----------------------------------------------------------------------

TEST(FuzzCorpus, IsReadOrRefusedInOneLine) {
  const std::filesystem::path folder(KILTER_TEST_DATA "/fuzz/corpus/graphs");
  for (const auto& bundle : std::filesystem::directory_iterator(folder)) {
    const std::string format = bundle.path().stem();
    if (format != "ninja" && format != "generator")
      test::replay_corpus("graphs/" + format, [](const std::string& path, const std::string&) {
        (void)load_dag(path);
      });
  }
  test::replay_corpus("graphs/generator", [](const std::string&, const std::string& text) {
    (void)dags::generate(text);
  });
  test::replay_corpus("graphs/ninja", [](const std::string&, const std::string& text) {
    const std::size_t end = std::min(text.find("# ninja log"), text.size());
    const std::string graph = text.substr(0, end), log = text.substr(end);
    std::optional<dags::build_log> times;
    if (!log.empty()) times.emplace(dags::check_text("log", log));
    (void)dags::read_ninja(dags::check_text("f", graph), times ? &*times : nullptr);
  });
}

TEST(FuzzCorpus, HoldsEveryByte) {
  EXPECT_EQ(test::fuzz_input(R"(a "b"\n\\x41\n\t\r\x00\xff\x20)"),
            std::string("a \"b\"\n\\x41\n\t\r\0\xff ", 16));
}

}  // namespace
}  // namespace kilter
