#pragma once
// Node-link JSON, as NetworkX writes it (node_link_data).

#include "graph/dag.hpp"
#include "graph_files/source_text.hpp"

namespace kilter::dags {

/// "directed": true, and "nodes" and "links" or "edges", in any order. An id is a string, a number,
/// or a list as it is written, blanks taken out: NetworkX makes lists of tuples. What the keys of
/// nodes and edges mean is told in named_attributes.hpp, in any case. input_error naming file and
/// line.
[[nodiscard]] dag read_node_link(const source_text&);

}  // namespace kilter::dags
