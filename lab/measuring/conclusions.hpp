#pragma once
// Plain sentences about what a run showed, each with the samples that it rests on.

#include "measuring/experiment.hpp"
#include "measuring/results.hpp"

namespace kilter::lab {

/// Needs `summary` and, for what the table learned when, `details`.
[[nodiscard]] std::vector<std::string> conclusions_of(const experiment&, const bench_result&);

/// One of them for each scenario whose runs were faster than their bound, with the reason.
[[nodiscard]] std::vector<std::string> where_the_bound_fails(const experiment&,
                                                             const bench_result&);

}  // namespace kilter::lab
