#pragma once
// Files that commands write: refused before anything runs if they cannot be, written whole or not
// at all.

#include <stdexcept>
#include <string>
#include <string_view>

namespace kilter::lab {

/// Throws input_error with one line if `path` cannot be written: a directory, a missing folder, no
/// permission. Leaves no file behind. "-" and "" always pass. `option` is named in the message.
void check_output(const std::string& option, const std::string& path);

/// check_output; also refuses to replace a file that is neither empty nor a report of ours.
void check_report_output(const std::string& option, const std::string& path);

/// Whoever read standard output has gone, as `head` does. No news to anybody.
class reader_gone : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Replaces the file's content as base/replace_file.hpp does; "-" is standard output. Throws
/// std::runtime_error with one line if not all of it could be written; a file that was there before
/// keeps its content then. reader_gone is one.
void write_output(const std::string& path, const std::string& content);

/// Text on standard error, as far as that takes it. Nothing fails because a message is lost.
void tell(std::string_view) noexcept;

/// With symbolic links and dots resolved as far as they exist; for telling the user where a file
/// is.
[[nodiscard]] std::string absolute_path(const std::string& path);

}  // namespace kilter::lab
