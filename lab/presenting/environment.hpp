#pragma once
// Where, when and with what a document was made: everything in it that two equal questions may
// answer differently.

#include "measuring/results.hpp"
#include "presenting/document.hpp"

namespace kilter::lab {

[[nodiscard]] document environment_of(const bench_result&, const invocation&);

}  // namespace kilter::lab
