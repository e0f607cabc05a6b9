#pragma once
// Graphviz's DOT, as far as graphs of tasks need it (the DOT language,
// graphviz.org/doc/info/lang.html).

#include <string>

#include "graph/dag.hpp"
#include "graph_files/source_text.hpp"

namespace kilter::dags {

/// A digraph: node and edge statements, chains, subgraphs (as ends of edges too), default
/// attributes, quoted ids, comments. What attributes mean is told in named_attributes.hpp; what was
/// guessed, in the graph's notes. In files of Snakemake and Nextflow the rule or process that a
/// label names is the type. input_error naming file and line.
[[nodiscard]] dag read_dot(const source_text&);
/// Reads back as the same graph but for processors, kernels and widths, which have no place in it,
/// and backslashes in names, which come back doubled.
[[nodiscard]] std::string dot_text(const dag&);

}  // namespace kilter::dags
