#pragma once
// A comparison for a terminal and as a document: schema "kilter.compare/1" (lab/docs/compare.md
// says what it means).

#include <string>

#include "measuring/comparison_conclusion.hpp"
#include "presenting/document.hpp"

namespace kilter::lab {

/// A table for each graph on each machine, then notes, then what it comes to.
[[nodiscard]] std::string compare_text(const comparison::outcome&, bool colour);

/// One row of `rows[]`.
[[nodiscard]] document document_of(const compare_row&);
/// Seconds that planned policies took to plan in simulated runs: wall time, so not in the rows.
[[nodiscard]] document plans_of(const std::vector<std::vector<compare_row>>&);
/// As of `kilter bench`, from what a comparison knows of itself.
[[nodiscard]] document environment_of(const comparison::outcome&, const invocation&);

/// `conclusion`: its data, and the same in words.
[[nodiscard]] document document_of(const comparison_conclusion&);

[[nodiscard]] document to_document(const compare_specification&, const comparison::outcome&,
                                   const invocation&);

}  // namespace kilter::lab
