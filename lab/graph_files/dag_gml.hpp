#pragma once
// GML, the Graph Modelling Language of Himsolt (1997), as NetworkX, igraph and yEd write it.

#include "graph/dag.hpp"
#include "graph_files/source_text.hpp"

namespace kilter::dags {

/// Whether the text is keys with values, of which one is `graph [`: DOT also begins with `graph`.
[[nodiscard]] bool is_gml(const source_text&);

/// A graph with `directed 1`, without which GML's edges have no direction. If all nodes have names
/// that differ (`name` of igraph, else `label` of NetworkX), those are the ids, else the numbers
/// are. What keys of nodes and edges mean is told in named_attributes.hpp, in any case. input_error
/// naming file and line.
[[nodiscard]] dag read_gml(const source_text&);

}  // namespace kilter::dags
