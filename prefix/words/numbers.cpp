#include "words/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "kilter/error.hpp"
#include "words/suggest.hpp"

namespace kilter::lab {

std::uint64_t parse_count(std::string_view option, std::string_view text, std::uint64_t smallest,
                          std::uint64_t largest) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool number =
      !text.empty() && end == text.data() + text.size() && error != std::errc::invalid_argument;
  if (!number || error == std::errc::result_out_of_range || value < smallest || value > largest)
    throw input_error(fmt::format("{} '{}': expected a whole number from {} to {}", option, text,
                                  smallest, largest));
  return value;
}

double parse_fraction(std::string_view option, std::string_view text) {
  const auto read = [&](std::string_view piece) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(piece.data(), piece.data() + piece.size(), value);
    return error == std::errc{} && end == piece.data() + piece.size() ? value : -1.0;
  };
  const auto slash = text.find('/');
  const double value =
      slash == text.npos ? read(text) : read(text.substr(0, slash)) / read(text.substr(slash + 1));
  if (!(value > 0.0 && value <= 1.0))
    throw input_error(fmt::format(
        "{} '{}': expected a fraction above 0 and at most 1, as 1/5 or 0.2", option, text));
  return value;
}

std::size_t parse_choice(std::string_view what, std::string_view text,
                         std::span<const std::string_view> choices) {
  const auto found = std::find(choices.begin(), choices.end(), text);
  if (found == choices.end()) throw input_error(unknown_name(what, text, choices));
  return static_cast<std::size_t>(found - choices.begin());
}

std::vector<std::string_view> split_list(std::string_view text) {
  std::vector<std::string_view> pieces;
  for (std::size_t begin = 0;;) {
    const std::size_t comma = text.find(',', begin);
    pieces.push_back(text.substr(begin, comma - begin));
    if (comma == std::string_view::npos) return pieces;
    begin = comma + 1;
  }
}

}  // namespace kilter::lab
