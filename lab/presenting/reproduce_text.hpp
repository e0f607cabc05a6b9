#pragma once
// Verdicts for people.

#include <span>
#include <string>
#include <vector>

#include "claims/experiment_file.hpp"
#include "claims/flips.hpp"
#include "claims/verdict.hpp"

namespace kilter::lab {

/// A line for each of the claims.
[[nodiscard]] std::string claims_text(std::span<const experiment_file>,
                                      const std::vector<std::string>& ids);

/// For each claim its verdict, what was published and what came out; of those that differ the cases
/// that fail, worst first. Then the counts.
[[nodiscard]] std::string verdicts_text(std::span<const claim_result>, bool colour);

/// A line for each tally.
[[nodiscard]] std::string first_text(std::span<const first_tally>);

/// Claims that were run as their files say and in other readings: a line for each claim, a column
/// for each reading, with the verdict, the number that stands for the claim, and how many cases
/// hold. `results[i]` belongs to `readings[i]` and has the claims of `results[0]`.
[[nodiscard]] std::string readings_text(const std::vector<std::string>& readings,
                                        const std::vector<std::vector<claim_result>>& results);

/// A line for each claim: its verdict as published and as coded, and the single readings that
/// change it.
[[nodiscard]] std::string flips_text(std::span<const claim_flips>);

}  // namespace kilter::lab
