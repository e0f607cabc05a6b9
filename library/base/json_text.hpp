#pragma once
// JSON of files that anybody may have written. What nests deeper than any of our formats, or has
// objects with more members, is refused before a tree is made of it: the library copies, prints and
// frees a tree by recursion, and looks members up one by one.

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace kilter {

/// input_error, without the file's name: "not JSON, at byte 17", "nested more than 100 deep, at
/// byte 400".
[[nodiscard]] nlohmann::ordered_json parse_json(std::string_view text);

/// A whole number from 0 on; input_error if the value is another one, or none.
[[nodiscard]] std::uint64_t whole_number(const nlohmann::ordered_json& value);

/// The value as JSON for a message: one line, short.
[[nodiscard]] std::string shown(const nlohmann::ordered_json& value);

}  // namespace kilter
