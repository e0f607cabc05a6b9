#pragma once
// A comparison for a terminal.

#include <cstddef>
#include <string>

#include "measuring/compare.hpp"

namespace kilter::lab {

/// A table for each experiment and scenario, then what it comes to and what a reader must know. A
/// table has as many columns as `width` has room for.
[[nodiscard]] std::string compare_text(const comparison::outcome&, bool colour, std::size_t width);

}  // namespace kilter::lab
