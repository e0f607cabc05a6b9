#pragma once
// What `auto`, pinned, is held to.

#include <vector>

#include "study/summary.hpp"

namespace kilter::bench {

/// One row for each goal and each cell that it speaks of and that was measured.
[[nodiscard]] std::vector<goal_row> goals_of(const std::vector<cell_summary>&);

}  // namespace kilter::bench
