#pragma once
// Quantities as people read them.

#include <string>

namespace kilter::lab {

/// Three significant digits with a fitting unit: "16.2 us", "1.20 s".
[[nodiscard]] std::string seconds_text(double seconds);

}  // namespace kilter::lab
