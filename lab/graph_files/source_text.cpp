#include "graph_files/source_text.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/printable.hpp"
#include "kilter/error.hpp"

namespace kilter::dags {

void source_text::fail_at(std::size_t at, const std::string& what) const {
  const auto line =
      1 + std::count(text.begin(),
                     text.begin() + static_cast<std::ptrdiff_t>(std::min(at, text.size())), '\n');
  throw input_error(file + ":" + std::to_string(line) + ": " + what);
}

std::optional<double> number_in(std::string_view text) {
  double value = 0.0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || read.ptr != text.data() + text.size() || read.ec != std::errc{})
    return std::nullopt;
  return value;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blank);
  return first == text.npos ? std::string_view{}
                            : text.substr(first, text.find_last_not_of(blank) + 1 - first);
}

void append_utf8(std::string& to, unsigned code) {
  const auto put = [&](unsigned byte) { to.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

source_text check_text(const std::string& file, std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    throw input_error(file + ": is in UTF-16; save it as UTF-8");
  const source_text checked{file, text};
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\0') checked.fail_at(at, "a NUL byte; a graph file is text in UTF-8");
    const std::size_t length =
        static_cast<unsigned char>(text[at]) < 0x80 ? 1 : utf8_length(text.substr(at));
    if (length == 0) checked.fail_at(at, "a byte that is not UTF-8; save the file as UTF-8");
    at += length;
  }
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    throw input_error(file + ": is empty; a graph file has tasks");
  return checked;
}

}  // namespace kilter::dags
