#pragma once
// A calibration as text: the platform file, and what a terminal shows of it.

#include <string>

#include "measuring/calibration.hpp"

namespace kilter::lab {

/// A platform file; lab/docs/platform-files.md. Every table says how its figures were measured, and
/// how far they spread.
[[nodiscard]] std::string platform_file_text(const calibration&);

/// A few lines for a terminal.
[[nodiscard]] std::string calibration_text(const calibration&);

}  // namespace kilter::lab
