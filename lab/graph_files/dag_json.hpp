#pragma once
// Kilter's own graph files, schema "kilter.graph/1" (lab/docs/graphs.md).

#include <string>

#include "graph/dag.hpp"
#include "graph_files/source_text.hpp"

namespace kilter::dags {

/// input_error naming file and line for whatever the file cannot mean, unknown keys included.
/// Linear in the text.
[[nodiscard]] dag read_graph_json(const source_text&);
/// One task a line and one edge a line; what has its default is left out. Reads back as the same
/// graph.
[[nodiscard]] std::string graph_json(const dag&);

}  // namespace kilter::dags
