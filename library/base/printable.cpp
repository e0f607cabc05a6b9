#include "base/printable.hpp"

namespace kilter {

std::size_t utf8_length(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned first = byte(0), second = byte(1);
  if (text.empty()) return 0;
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return continues(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool shortest = first != 0xE0 || second >= 0xA0,
               no_surrogate = first != 0xED || second < 0xA0;
    return shortest && no_surrogate && continues(1) && continues(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool shortest = first != 0xF0 || second >= 0x90,
               in_range = first != 0xF4 || second < 0x90;
    return shortest && in_range && continues(1) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

std::string printable(std::string_view text) {
  constexpr std::string_view hex = "0123456789abcdef";
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto byte = static_cast<unsigned char>(text.front());
    const std::size_t length = utf8_length(text), taken = length == 0 ? 1 : length;
    const auto escape = [&](std::string_view how, unsigned char of) {
      out.append(how).append({hex[of >> 4], hex[of & 15]});
    };
    if (length == 0 || byte < 0x20 || byte == 0x7F)
      escape("\\x", byte);
    else if (const auto next = static_cast<unsigned char>(text[taken - 1]);
             byte == 0xC2 && next < 0xA0)
      escape("\\u00", next);
    else
      out.append(text.substr(0, taken));
    text.remove_prefix(taken);
  }
  return out;
}

}  // namespace kilter
