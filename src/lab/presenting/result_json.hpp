#pragma once
// The document that `kilter bench` writes: schema "kilter.bench/1" (docs/commands.md lists its
// keys).

#include "lab/measuring/experiment.hpp"
#include "lab/measuring/results.hpp"
#include "lab/presenting/document.hpp"

namespace kilter::lab {

[[nodiscard]] document to_document(const experiment&, const bench_result&, const invocation&);

}  // namespace kilter::lab
