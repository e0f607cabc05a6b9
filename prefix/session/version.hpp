#pragma once

#include <string>

namespace kilter::lab {

/// The version of this build, as in `kilter --version`.
[[nodiscard]] std::string version_text();
/// The compiler that made it, as "gcc 12.2.0".
[[nodiscard]] std::string compiler_text();

}  // namespace kilter::lab
