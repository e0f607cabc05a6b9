#pragma once
// Counts and names of options, from text.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kilter::lab {

/// `text` as a whole number in smallest..largest. Throws input_error naming the option, the text
/// and the range otherwise.
[[nodiscard]] std::uint64_t parse_count(std::string_view option, std::string_view text,
                                        std::uint64_t smallest, std::uint64_t largest);

/// A fraction above 0 and at most 1, written as "1/5" or "0.2". Throws input_error naming the
/// option and the text otherwise.
[[nodiscard]] double parse_fraction(std::string_view option, std::string_view text);

/// Position of `text` in `choices`. Throws input_error naming what was meant otherwise.
[[nodiscard]] std::size_t parse_choice(std::string_view what, std::string_view text,
                                       std::span<const std::string_view> choices);

/// "a,b" as {"a", "b"}. Empty pieces are kept, so that they can be refused.
[[nodiscard]] std::vector<std::string_view> split_list(std::string_view text);

}  // namespace kilter::lab
