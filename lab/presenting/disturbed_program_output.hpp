#pragma once
// What `kilter disturb SPEC -- PROGRAM` found out.

#include <string>

#include "measuring/disturbed_program.hpp"

namespace kilter::lab {

/// "cpu@0, run 2: 1.93 s".
[[nodiscard]] std::string timed_run_text(const timed_run&);
/// Both medians with their spread, the ratio and whether it passes; of a run that failed, which and
/// how.
[[nodiscard]] std::string disturbed_text(const disturbed_result&);
/// One line, schema "kilter.disturbed/1" (docs/disturbances.md).
[[nodiscard]] std::string disturbed_json(const disturbed_result&);

}  // namespace kilter::lab
