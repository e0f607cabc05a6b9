#pragma once
// Measures that are computed of the code, without an engine.

#include <string>

#include "claims/claim.hpp"

namespace kilter::lab {

/// One of the measures that measures.hpp lists as properties. input_error if an argument is
/// missing.
[[nodiscard]] double property_value(const std::string& measure, const selection& arguments);

}  // namespace kilter::lab
