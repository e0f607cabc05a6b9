#pragma once
// Pictures of graphs. The only part that links Graphviz.

#include <string>

#include "graph/dag.hpp"

namespace kilter {

/// An SVG picture, top down, a colour a type. A graph of more than `most_drawn_tasks` tasks, `most_drawn_edges` edges or `most_drawn_width` tasks on
/// one level is drawn in groups, the tasks of one type on neighbouring levels, and the picture says so. std::runtime_error if Graphviz cannot draw,
/// input_error if this was built without it (KILTER_DRAW).
[[nodiscard]] std::string draw_svg(const dag&);

inline constexpr std::size_t most_drawn_tasks = 300, most_drawn_edges = 900, most_drawn_width = 40;

}  // namespace kilter
