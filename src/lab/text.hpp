#pragma once
// Results for a terminal.

#include <string>

#include "lab/experiment.hpp"
#include "lab/results.hpp"

namespace kilter::lab {

/// Three significant digits with a fitting unit: "16.2 us", "1.20 s".
[[nodiscard]] std::string seconds_text(double seconds);

/// The table and the sentences under it. At most 100 columns for the table. `colour` adds terminal escapes.
[[nodiscard]] std::string bench_text(const experiment&, const bench_result&, bool colour);

/// `kilter policies`.
[[nodiscard]] std::string policies_text(bool colour);

/// True if `descriptor` is a terminal and NO_COLOR is not set.
[[nodiscard]] bool colour_wanted(int descriptor);

}  // namespace kilter::lab
