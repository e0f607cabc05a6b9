#pragma once
// Where, when and with what a document was made: everything in it that two equal questions may answer differently.

#include "lab/json.hpp"

namespace kilter::lab {

[[nodiscard]] document environment_of(const bench_result&, const invocation&);

/// The version of this build, as in `kilter --version`.
[[nodiscard]] std::string version_text();

}  // namespace kilter::lab
