#pragma once

#include <string>

namespace kilter::lab {

/// The version of this build, as in `kilter --version`.
[[nodiscard]] std::string version_text();

}  // namespace kilter::lab
