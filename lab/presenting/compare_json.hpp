#pragma once
// A comparison as a document: schema "kilter.compare/2" (lab/docs/compare.md lists its keys).

#include "measuring/compare.hpp"
#include "measuring/conclusion.hpp"
#include "presenting/document.hpp"

namespace kilter::lab {

[[nodiscard]] document to_document(const comparison::outcome&, const invocation&);

/// What a comparison knows of itself, with the seconds that plans took in simulated runs: wall
/// time, so not in the rows.
[[nodiscard]] document environment_of(const comparison::outcome&, const invocation&);

/// `conclusion`
[[nodiscard]] document document_of(const conclusion&);

}  // namespace kilter::lab
