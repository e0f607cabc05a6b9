#include "graph/source_text.hpp"

#include <algorithm>

#include "kilter/error.hpp"

namespace kilter::dags {

namespace {

/// Bytes of the UTF-8 sequence that begins at `at`; 0 if none does (RFC 3629, section 4).
std::size_t sequence_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = byte(at), second = byte(at + 1);
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return continues(at + 1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool shortest = first != 0xE0 || second >= 0xA0, no_surrogate = first != 0xED || second < 0xA0;
    return shortest && no_surrogate && continues(at + 1) && continues(at + 2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool shortest = first != 0xF0 || second >= 0x90, in_range = first != 0xF4 || second < 0x90;
    return shortest && in_range && continues(at + 1) && continues(at + 2) && continues(at + 3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

void source_text::fail_at(std::size_t at, const std::string& what) const {
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(std::min(at, text.size())), '\n');
  throw input_error(file + ":" + std::to_string(line) + ": " + what);
}

source_text check_text(const std::string& file, std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) throw input_error(file + ": is in UTF-16; save it as UTF-8");
  const source_text checked{file, text};
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\0') checked.fail_at(at, "a NUL byte; a graph file is text in UTF-8");
    const std::size_t length = sequence_length(text, at);
    if (length == 0) checked.fail_at(at, "a byte that is not UTF-8; save the file as UTF-8");
    at += length;
  }
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) throw input_error(file + ": is empty; a graph file has tasks");
  return checked;
}

}  // namespace kilter::dags
