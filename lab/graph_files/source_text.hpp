#pragma once
// The text of a graph file, and where in it something is.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace kilter::dags {

/// What readers read. `text` has neither a byte order mark nor a NUL and is UTF-8: `check_text` has
/// seen to that.
struct source_text {
  std::string file;  ///< as messages name it
  std::string_view text;

  /// Throws input_error "FILE:LINE: what" for the line that the byte `at` is in.
  [[noreturn]] void fail_at(std::size_t at, const std::string& what) const;
  /// The file's name without its folders: a graph's name where the file tells none.
  [[nodiscard]] std::string name() const { return file.substr(file.rfind('/') + 1); }
};

/// The number that all of `text` is, as 1, 0.5 or 1e-3; nothing if it is none or out of range.
[[nodiscard]] std::optional<double> number_in(std::string_view text);
/// Without white space at its ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

/// The character of this code, which must be one of Unicode's scalar values.
void append_utf8(std::string& to, unsigned code);

/// Takes a UTF-8 byte order mark off. input_error for another encoding, a NUL, or nothing at all.
[[nodiscard]] source_text check_text(const std::string& file, std::string_view text);

}  // namespace kilter::dags
