#include "graph/dag_limits.hpp"

#include <array>
#include <charconv>

#include "base/printable.hpp"

namespace kilter::dags {

std::string shown(std::string_view text) {
  constexpr std::size_t longest = 60;
  std::size_t length = text.size();
  if (length > longest)
    // not inside a UTF-8 sequence
    for (length = longest; length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80;)
      --length;
  const std::string out = printable(text.substr(0, length));
  return length < text.size() ? out + "..." : out;
}

std::string amount_problem(double value) {
  if (!(value >= 0.0)) return "must be a number of at least 0, got " + number_text(value);
  return value <= most_amount ? ""
                              : "must be a number of at most " + number_text(most_amount) +
                                    ", got " + number_text(value);
}

std::string number_text(double value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return {digits.data(), end};
}

}  // namespace kilter::dags
