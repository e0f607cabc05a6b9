#pragma once
// What the report of `kilter lab reproduce` is made of: the verdicts, and the figures beside them.

#include <span>

#include <nlohmann/json.hpp>

#include "claims/figure.hpp"
#include "claims/verdict.hpp"

namespace kilter::lab {

/// The document of to_json(claims) with "figures" added, for report::html. Numbers of figures have
/// six digits; those of verdicts all.
[[nodiscard]] nlohmann::ordered_json report_document(std::span<const claim_result>,
                                                     std::span<const drawn_figure>);

}  // namespace kilter::lab
