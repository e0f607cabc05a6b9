#pragma once
// Plain sentences about what the runs of one experiment showed, each with the samples that it rests
// on. Which policy is best is said by conclusion.hpp.

#include <string>
#include <vector>

#include "measuring/experiment.hpp"
#include "measuring/results.hpp"

namespace kilter::lab {

/// Needs `rows` and, for what the table learned when, `details`.
[[nodiscard]] std::vector<std::string> evidence_of(const experiment&, const experiment_result&);

/// One of them for each scenario whose runs were faster than their bound, with the reason.
[[nodiscard]] std::vector<std::string> where_the_bound_fails(const experiment&,
                                                             const experiment_result&);

}  // namespace kilter::lab
