#include "machine/toml_text.hpp"

#include <algorithm>
#include <cstddef>

#include "base/file_text.hpp"
#include "base/printable.hpp"
#include "kilter/error.hpp"

namespace kilter::inline v0::detail {

namespace {

constexpr std::size_t most_mib = 16, deepest = 32, most_parts = 32;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// Past the string that begins at `at`, whichever of the four it is; at the end of the line if it
/// never ends there. A letter beyond ASCII behind a backslash is no escape. Behind a backslash and
/// the end of its line it is allowed. In both places the library's behaviour is undefined for some
/// letters.
template <class Fail>
std::size_t after_string(std::string_view text, std::size_t at, Fail&& fail) {
  const char quote = text[at];
  const bool escapes = quote == '"';
  const auto skip_escaped = [&] {
    const std::size_t next = std::min(text.find_first_not_of(" \t\r\n", ++at), text.size());
    if (next == text.size() || static_cast<unsigned char>(text[next]) < 0x80) return;
    if (next == at)
      fail(at, "a backslash before a letter beyond ASCII; a backslash itself is written twice");
    fail(next,
         "a letter beyond ASCII is the first after a line that ends with a backslash; begin with "
         "another, or join the lines");
  };
  const std::string_view three = escapes ? "\"\"\"" : "'''";
  if (text.substr(at).starts_with(three)) {
    for (at += 3; at < text.size() && !text.substr(at).starts_with(three); ++at)
      if (escapes && text[at] == '\\') skip_escaped();
    at = std::min(at + 3, text.size());
    // quotes just before the closing ones
    for (int more = 0; more < 2 && at < text.size() && text[at] == quote; ++more) ++at;
    return at;
  }
  for (++at; at < text.size() && text[at] != quote && text[at] != '\n'; ++at)
    if (escapes && text[at] == '\\') skip_escaped();
  return at < text.size() && text[at] == quote ? at + 1 : std::min(at, text.size());
}

/// Brackets, and the dots between two of `=`, `,`, brackets and ends of lines: a number has one.
/// Letters beyond ASCII stand in strings and comments only, and for some of them elsewhere the
/// library's behaviour is undefined.
void check_limits(std::string_view text, const std::string& file) {
  std::size_t depth = 0, parts = 1;
  const auto fail = [&](std::size_t at, const std::string& what) {
    fail_at(file,
            static_cast<std::size_t>(
                1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n')),
            what);
  };
  const std::size_t begin = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  for (std::size_t at = begin; at < text.size();) {
    const char c = text[at];
    if (static_cast<unsigned char>(c) >= 0x80) {
      const std::size_t length = std::max<std::size_t>(utf8_length(text.substr(at)), 1);
      fail(at, "'" + one_line(text.substr(at, length)) +
                   "' outside quotes; letters beyond ASCII stand in quotes or comments");
    }
    if (c == '"' || c == '\'') {
      if (at > begin && std::string_view("=,[{. \t\n").find(text[at - 1]) == std::string_view::npos)
        fail(at, "a quote where no text can begin");
      at = after_string(text, at, fail);
      continue;
    }
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if (c == '[' || c == '{') {
      if (++depth > deepest)
        fail(at, "values are nested more than " + std::to_string(deepest) + " deep");
    } else if (c == ']' || c == '}') {
      depth -= depth > 0;
    } else if (c == '.' && ++parts > most_parts) {
      fail(at, "a key has more than " + std::to_string(most_parts) + " parts");
    }
    if (c == '[' || c == '{' || c == ']' || c == '}' || c == '=' || c == ',' || c == '\n')
      parts = 1;
    ++at;
  }
}

}  // namespace

void fail_at(const std::string& file, std::size_t line, const std::string& what) {
  constexpr std::size_t longest = 1000;
  throw input_error(file + ":" + std::to_string(line) + ": " + one_line(what, longest));
}

toml::table parse_toml(std::string_view text, const std::string& file) {
  check_limits(text, file);
  // Where a text is broken, the library may take what stands in quotes for something else; so it
  // sees letters beyond ASCII when it has found nothing broken.
  const auto beyond_ascii = [](char c) { return static_cast<unsigned char>(c) >= 0x80; };
  std::string plain;
  if (std::ranges::any_of(text, beyond_ascii)) {
    plain = text.starts_with(byte_order_mark) ? text.substr(byte_order_mark.size()) : text;
    std::ranges::replace_if(plain, beyond_ascii, 'x');
  }
  try {
    if (!plain.empty()) (void)toml::parse(plain, file);
    return toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    fail_at(file, error.source().begin.line, std::string(error.description()));
  }
}

toml::table parse_toml_file(const std::string& file, const std::string& what) {
  return parse_toml(file_text(file, what, most_mib), file);
}

}  // namespace kilter::inline v0::detail
