#pragma once
// GraphML (graphml.graphdrawing.org), as NetworkX, igraph, yEd and Gephi write it.

#include "graph/dag.hpp"
#include "graph_files/source_text.hpp"

namespace kilter::dags {

/// A <graph> with directed edges. What <data> means is told by the `attr.name` of its <key>, in any
/// case, as DOT's attributes are (named_attributes.hpp); the labels that yEd draws count as
/// `label`. Nested graphs and hyperedges are refused. input_error naming file and line.
[[nodiscard]] dag read_graphml(const source_text&);

}  // namespace kilter::dags
