// One fuzz target a format: KILTER_FUZZ_READ is what turns bytes into a graph. Whatever the bytes
// are, the answer is a graph or an input_error of one line; a graph is settled, and every writer's
// text of it is read back.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "demand.hpp"
#include "graph/dag_facts.hpp"
#include "graph/generator.hpp"
#include "graph_files/build_log.hpp"
#include "graph_files/dag_dax.hpp"
#include "graph_files/dag_dot.hpp"
#include "graph_files/dag_formats.hpp"
#include "graph_files/dag_gml.hpp"
#include "graph_files/dag_graphml.hpp"
#include "graph_files/dag_json.hpp"
#include "graph_files/dag_ninja.hpp"
#include "graph_files/dag_node_link.hpp"
#include "graph_files/dag_pegasus.hpp"
#include "graph_files/dag_source.hpp"
#include "graph_files/dag_starpu.hpp"
#include "graph_files/dag_stg.hpp"
#include "graph_files/dag_wfcommons.hpp"
#include "graph_files/source_text.hpp"
#include "kilter/error.hpp"

namespace {

using namespace kilter;

[[maybe_unused]] dag read_json(const std::string& bytes) {
  return dags::read_graph_json(dags::check_text("f", bytes));
}
[[maybe_unused]] dag read_wfcommons(const std::string& bytes) {
  return dags::read_wfcommons(dags::check_text("f", bytes));
}
[[maybe_unused]] dag read_stg(const std::string& bytes) {
  return dags::read_stg(dags::check_text("f", bytes));
}
[[maybe_unused]] dag read_dot(const std::string& bytes) {
  return dags::read_dot(dags::check_text("f", bytes));
}
[[maybe_unused]] dag read_nodelink(const std::string& bytes) {
  return dags::read_node_link(dags::check_text("f", bytes));
}
[[maybe_unused]] dag read_gml(const std::string& bytes) {
  return dags::read_gml(dags::check_text("f", bytes));
}
/// A graph, and behind it the log of its build, if there is one.
[[maybe_unused]] dag read_ninja(const std::string& bytes) {
  const std::size_t end = std::min(bytes.find("# ninja log"), bytes.size());
  const std::string graph = bytes.substr(0, end), log = bytes.substr(end);
  std::optional<dags::build_log> times;
  if (!log.empty()) times.emplace(dags::check_text("log", log));
  return dags::read_ninja(dags::check_text("f", graph), times ? &*times : nullptr);
}
[[maybe_unused]] dag read_dax(const std::string& bytes) {
  return dags::read_dax(dags::check_text("f", bytes));
}
[[maybe_unused]] dag read_yaml(const std::string& bytes) {
  return dags::read_pegasus(dags::check_text("f", bytes));
}
[[maybe_unused]] dag read_graphml(const std::string& bytes) {
  return dags::read_graphml(dags::check_text("f", bytes));
}
[[maybe_unused]] dag read_starpu(const std::string& bytes) {
  return dags::read_starpu(dags::check_text("f", bytes));
}
/// What is packed decides the format; bytes that are not packed have targets of their own.
[[maybe_unused]] dag read_gz(const std::string& bytes) {
  return dags::read_dag("f", "\x1f\x8b" + bytes.substr(std::min<std::size_t>(2, bytes.size())));
}
[[maybe_unused]] dag read_any(const std::string& bytes) { return dags::read_dag("f", bytes); }
/// Sizes of seven digits are possible, and take seconds that the fuzzer has better use for.
[[maybe_unused]] dag read_generator(const std::string& bytes) { return dags::generate(bytes); }

void check(const dag& g) {
  for (const dag::edge& e : g.edges)
    demand(e.from < e.to && e.to < g.tasks.size(), "edges run from earlier to later tasks");
  const dag_facts facts = facts_of(g);
  demand(std::isfinite(facts.work_s) && std::isfinite(facts.path_with_edges_s) &&
             std::isfinite(facts.bytes),
         "sums are finite");
  for (const std::string& note : g.notes)
    demand(!note.empty() && note.size() < 1000 && note.find_first_of("\n\r") == std::string::npos,
           "notes are one line");
  demand(facts.path_tasks >= 1 && facts.critical >= facts.path_tasks, "a longest path is critical");
  const std::string text = dags::graph_json(g);
  demand(dags::graph_json(read_json(text)) == text, "our own files read back as they were");
  for (const dags::dag_format& format : dags::dag_formats()) {
    const dag again = dags::read_dag("again", format.write(g));
    demand(again.tasks.size() >= g.tasks.size() && again.edges.size() >= g.edges.size(),
           "other files keep tasks and edges");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  dag g;
  try {
    g = KILTER_FUZZ_READ(std::string(reinterpret_cast<const char*>(data), size));
  } catch (const input_error& e) {
    const std::string message = e.what();
    demand(!message.empty() && message.size() < 4000 &&
               message.find_first_of("\n\r") == std::string::npos,
           "messages are one line");
    return 0;
  }
  if (g.tasks.size() <= 300) check(g);  // a large one would take the time of a thousand small ones
  return 0;
}
