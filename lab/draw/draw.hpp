#pragma once
// Pictures of graphs, by Graphviz, which is loaded for the first.

#include <array>
#include <string>
#include <string_view>

#include "graph/dag.hpp"

namespace kilter {

enum class picture_format { svg, png, pdf };
/// What users call them, in that order; also the endings of their files.
inline constexpr std::array<std::string_view, 3> picture_format_names = {"svg", "png", "pdf"};

/// The bytes of a picture, top down, a colour a type. A graph of more than `most_drawn_tasks`
/// tasks, `most_drawn_edges` edges or `most_drawn_width` tasks on one level is drawn in groups, the
/// tasks of one type on neighbouring levels, and the picture says so; so is one that would make a
/// PNG of more than `most_drawn_pixels` on a side. std::runtime_error if Graphviz cannot draw,
/// input_error if it cannot be loaded.
[[nodiscard]] std::string draw(const dag&, picture_format);

inline constexpr std::size_t most_drawn_tasks = 300, most_drawn_edges = 900, most_drawn_width = 40,
                             most_drawn_pixels = 10'000;

}  // namespace kilter
