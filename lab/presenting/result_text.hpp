#pragma once
// Results for a terminal.

#include <string>

#include "measuring/experiment.hpp"
#include "measuring/results.hpp"

namespace kilter::lab {

/// The table and the sentences under it. At most 100 columns for the table. `colour` adds terminal
/// escapes.
[[nodiscard]] std::string bench_text(const experiment&, const bench_result&, bool colour);

/// `kilter policies`.
[[nodiscard]] std::string policies_text(bool colour);

}  // namespace kilter::lab
