#pragma once
// Long lists of a document, made short for the page. K.unpack (page/base.js) reads them back.

#include <nlohmann/json_fwd.hpp>

namespace kilter::report {

/// A list of objects that all have the same keys as {"rows": N, "columns": {key: column}}; anything
/// else as it is. A column is the shortest of
///   {"all": value}             every row has it
///   {"scale": S, "text": T}    numbers, each a whole number over S
///   {"of": [values], "text": T} positions in a list of the values that there are
///   [values]
/// T has for each row the difference to the row before as a number of base-32 digits, the lowest
/// first, in the alphabet of base 64: bit 5 of a digit says that another follows, the lowest bit of
/// the number is its sign. Nothing is rounded: what is read back is what was there.
[[nodiscard]] nlohmann::json packed_rows(const nlohmann::json& rows);

/// The document with its long lists packed: spans, table and unrecorded of
/// experiments[].details[].
[[nodiscard]] nlohmann::json packed(nlohmann::json document);

}  // namespace kilter::report
