#pragma once
// `kilter graph info`.

#include <string>

#include "graph/dag.hpp"

namespace kilter::lab {

/// At most 100 columns.
[[nodiscard]] std::string graph_info_text(const dag&);
/// Schema "kilter.graph-info/1" (lab/docs/graphs.md).
[[nodiscard]] std::string graph_info_json(const dag&);

}  // namespace kilter::lab
