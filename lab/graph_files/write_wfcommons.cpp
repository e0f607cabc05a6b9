#include <string>
#include <vector>

#include "graph_files/dag_wfcommons.hpp"
#include "graph_files/json_text.hpp"

namespace kilter::dags {

namespace {

/// The file that carries an edge's bytes.
std::string file_of(const dag& g, const dag::edge& e) {
  return "edge_" + std::to_string(&e - g.edges.data());
}

}  // namespace

std::string wfcommons_json(const dag& g) {
  std::vector<std::vector<const dag::edge*>> in(g.tasks.size()), out_of(g.tasks.size());
  std::vector<const dag::edge*> carried;
  double sum_s = 0.0;
  for (const dag::task& t : g.tasks) sum_s += t.seconds;
  for (const dag::edge& e : g.edges) {
    in[e.to].push_back(&e);
    out_of[e.from].push_back(&e);
    if (e.bytes > 0.0) carried.push_back(&e);
  }
  json_text out;
  const auto files = [&](const std::vector<const dag::edge*>& edges) {
    std::vector<std::string> names;
    for (const dag::edge* e : edges)
      if (e->bytes > 0.0) names.push_back(file_of(g, *e));
    out.list(names, "", [&](const std::string& name) { out.string(name); });
  };
  out.raw("{\"name\":")
      .string(g.name)
      .raw(
          ",\n\"description\":\"A graph written by kilter. It was not executed: makespanInSeconds "
          "is the sum of all run times.\"");
  out.raw(
      ",\n\"schemaVersion\":\"1.5\",\n\"runtimeSystem\":{\"name\":\"kilter\",\"version\":\"1\"},"
      "\n\"workflow\":{\"specification\":{\"tasks\":");
  std::uint32_t t = 0;
  out.list(g.tasks, "\n", [&](const dag::task& task) {
    out.raw("{\"name\":").string(g.types[task.type].name).raw(",\"id\":").string(task.id);
    out.raw(",\"parents\":").list(in[t], "", [&](const dag::edge* e) {
      out.string(g.tasks[e->from].id);
    });
    out.raw(",\"children\":").list(out_of[t], "", [&](const dag::edge* e) {
      out.string(g.tasks[e->to].id);
    });
    out.raw(",\"inputFiles\":");
    files(in[t]);
    out.raw(",\"outputFiles\":");
    files(out_of[t]);
    out.raw("}");
    ++t;
  });
  out.raw(",\n\"files\":").list(carried, "\n", [&](const dag::edge* e) {
    out.raw("{\"id\":").string(file_of(g, *e)).raw(",\"sizeInBytes\":").number(e->bytes).raw("}");
  });
  out.raw("},\n\"execution\":{\"makespanInSeconds\":")
      .number(sum_s)
      .raw(",\"executedAt\":\"1970-01-01T00:00:00+00:00\",\"tasks\":");
  out.list(g.tasks, "\n", [&](const dag::task& task) {
    out.raw("{\"id\":").string(task.id).raw(",\"runtimeInSeconds\":").number(task.seconds).raw("}");
  });
  out.raw("}}}\n");
  return out.take();
}

}  // namespace kilter::dags
