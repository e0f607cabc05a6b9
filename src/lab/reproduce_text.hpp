#pragma once
// Verdicts for people.

#include <span>
#include <string>
#include <vector>

#include "lab/experiment_file.hpp"
#include "lab/verdict.hpp"

namespace kilter::lab {

/// A line for each of the claims.
[[nodiscard]] std::string claims_text(std::span<const experiment_file>, const std::vector<std::string>& ids);

/// For each claim its verdict, what was published and what came out; of those that differ the cases that fail, worst first. Then the counts.
[[nodiscard]] std::string verdicts_text(std::span<const claim_result>, bool colour);

}  // namespace kilter::lab
