#pragma once
// Topcuoglu's set for a terminal and as a document.

#include <string>

#include "measuring/topcuoglu.hpp"
#include "presenting/document.hpp"

namespace kilter::lab {

/// Means by tasks, CCR, alpha, out-degree and beta.
[[nodiscard]] std::string topcuoglu_text(const topcuoglu_outcome&);
/// Schema "kilter.topcuoglu/1".
[[nodiscard]] document to_document(const topcuoglu_specification&, const topcuoglu_outcome&,
                                   const invocation&);

}  // namespace kilter::lab
