#pragma once
// The document that `kilter bench` writes: schema "kilter.bench/1" (docs/commands.md lists its
// keys).

#include "measuring/experiment.hpp"
#include "measuring/results.hpp"
#include "presenting/document.hpp"

namespace kilter::lab {

[[nodiscard]] document to_document(const experiment&, const bench_result&, const invocation&);

}  // namespace kilter::lab
