#pragma once
// The library that alone links Graphviz, whose five libraries take as long to load as half of all
// others of the command. It is loaded for the first picture.

#include <string>

#include "draw/draw.hpp"
#include "draw/sketch.hpp"

namespace kilter {
inline constexpr const char* graphviz_library_name = "libkilter_graphviz.so";
}

/// The bytes of a picture; empty for a PNG of more than `most_drawn_pixels` on a side. Throws
/// std::runtime_error.
extern "C" void kilter_picture_of(const kilter::sketch&, kilter::picture_format,
                                  std::string& bytes);
