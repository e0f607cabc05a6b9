#pragma once
// What the terminal of this invocation can show.

namespace kilter::lab {

/// True if `descriptor` is a terminal and NO_COLOR is not set.
[[nodiscard]] bool colour_wanted(int descriptor);

}  // namespace kilter::lab
