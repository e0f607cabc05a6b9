#pragma once
// Graphs as short texts to compare.

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

#include "graph/dag.hpp"
#include "unit/support.hpp"

namespace kilter {

using test::contains;

inline std::string ids_of(const dag& g) {
  std::string all;
  for (const dag::task& t : g.tasks) all += (all.empty() ? "" : " ") + t.id;
  return all;
}

inline std::string edges_of(const dag& g) {
  std::string all;
  for (const dag::edge& e : g.edges)
    all += (all.empty() ? "" : " ") + g.tasks[e.from].id + "-" + g.tasks[e.to].id;
  return all;
}

inline const dag::task& task_named(const dag& g, const std::string& id) {
  const auto at = std::ranges::find(g.tasks, id, &dag::task::id);
  if (at == g.tasks.end()) throw std::out_of_range("the graph has no task " + id);
  return *at;
}

inline double seconds_of(const dag& g) {
  return std::accumulate(g.tasks.begin(), g.tasks.end(), 0.0,
                         [](double sum, const dag::task& t) { return sum + t.seconds; });
}

/// What formats without widths can hold of a generated graph.
inline dag on_one_core(dag g) {
  g.widths = {1};
  return g;
}

inline std::string notes_of(const dag& g) {
  std::string all;
  for (const std::string& note : g.notes) all += (all.empty() ? "" : "\n") + note;
  return all;
}

}  // namespace kilter
