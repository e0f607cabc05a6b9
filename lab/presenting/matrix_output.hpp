#pragma once
// The matrix for a terminal and as a document: schema "kilter.matrix/1" (lab/docs/compare.md says
// what it means).

#include <string>
#include <vector>

#include "measuring/matrix.hpp"
#include "presenting/document.hpp"

namespace kilter::lab {

/// Of each policy over the cells: how many times it is best, within 3 % of the best, the mean and
/// the least ratio to the best, and where that is.
[[nodiscard]] std::string matrix_text(const std::vector<matrix_cell>&, bool colour);

[[nodiscard]] document to_document(const matrix_specification&, const std::vector<matrix_cell>&,
                                   const comparison::outcome&, const invocation&);

}  // namespace kilter::lab
