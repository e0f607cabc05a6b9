#pragma once
// Pegasus' abstract workflows in XML: DAX, versions 2 and 3 (its schema,
// pegasus.isi.edu/schema/dax-3.6.xsd).

#include "graph/dag.hpp"
#include "graph_files/source_text.hpp"

namespace kilter::dags {

/// Seconds are a job's `runtime`, an attribute as the workflow generators of Pegasus write it or a
/// profile of namespace pegasus; 0 without. Its type is its name. Edges are what <child> and
/// <parent> say; their bytes are the files that the one job writes and the other reads, their
/// seconds 0, as no network is known. A workflow within the workflow (<dax>, <dag>) is one task.
/// input_error naming file and line.
[[nodiscard]] dag read_dax(const source_text&);

}  // namespace kilter::dags
