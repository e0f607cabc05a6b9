#pragma once
// `kilter lab policies`.

#include <string>

namespace kilter::lab {

/// A line for each policy of the catalogue.
[[nodiscard]] std::string policies_text(bool colour);

}  // namespace kilter::lab
