#pragma once
// Pegasus' abstract workflows since version 5, in YAML or JSON (pegasus.isi.edu/schema/wf-5.0.yml).

#include "graph/dag.hpp"
#include "graph_files/source_text.hpp"

namespace kilter::dags {

/// Seconds are the profile `runtime` of namespace pegasus, 0 without; types, edges and bytes as in
/// read_dax. The catalogues in the file are not used. Anchors and aliases are refused, for they
/// make small files large. input_error naming file and line.
[[nodiscard]] dag read_pegasus(const source_text&);

}  // namespace kilter::dags
