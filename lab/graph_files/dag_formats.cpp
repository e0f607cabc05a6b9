#include "graph_files/dag_formats.hpp"

#include <algorithm>

#include "graph/dag_limits.hpp"
#include "graph_files/dag_builder.hpp"
#include "graph_files/dag_dot.hpp"
#include "graph_files/dag_json.hpp"
#include "graph_files/dag_stg.hpp"
#include "graph_files/dag_wfcommons.hpp"
#include "kilter/error.hpp"

namespace kilter::dags {

namespace {

constexpr dag_format all[] = {
    {"json", "kilter.graph/1", graph_json, true, true, true, true, true, true, true},
    {"dot", "DOT", dot_text, true, false, false, true, false, true, true},
    {"stg", "STG", stg_text, false, false, false, false, false, false, false},
    {"wfcommons", "WfCommons 1.5", wfcommons_json, true, false, false, false, false, false, true},
};

}  // namespace

std::span<const dag_format> dag_formats() noexcept { return all; }

const dag_format& dag_format_named(std::string_view name) {
  const auto at = std::ranges::find(all, name, &dag_format::name);
  if (at != std::end(all)) return *at;
  std::string names;
  for (const dag_format& f : all) names.append(names.empty() ? "" : ", ").append(f.name);
  throw input_error("unknown format '" + shown(name) + "'; there are " + names);
}

std::string lost_in(const dag_format& f, const dag& g) {
  std::string lost;
  const auto note = [&](bool has, bool used, const char* what) {
    if (!has && used) lost.append(lost.empty() ? "" : ", ").append(what);
  };
  note(f.has_types, g.types.size() > 1, "types");
  note(f.has_kernels,
       std::ranges::any_of(g.types, [](const dag::type& t) { return !t.kernel.empty(); }),
       "kernels");
  note(f.has_processors, !g.processors.empty(), "times on processors");
  note(
      f.has_priorities,
      std::ranges::any_of(g.tasks, [](const dag::task& t) { return t.priority == priority::high; }),
      "priorities");
  note(f.has_widths,
       std::ranges::any_of(g.tasks,
                           [&](const dag::task& t) { return g.widths_of(t) != one_core_each; }),
       "widths");
  note(f.has_edge_seconds,
       std::ranges::any_of(g.edges, [](const dag::edge& e) { return e.cost_s > 0.0; }),
       "seconds of edges");
  note(f.has_bytes, std::ranges::any_of(g.edges, [](const dag::edge& e) { return e.bytes > 0.0; }),
       "bytes of edges");
  return lost;
}

}  // namespace kilter::dags
