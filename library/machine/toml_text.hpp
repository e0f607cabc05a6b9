#pragma once
// TOML of files that anybody may have written: platform files and experiments. Only for .cpp files:
// it pulls in the whole TOML library.

#include <string>
#include <string_view>

#include <toml++/toml.h>

namespace kilter::inline v0::detail {

/// input_error "FILE:LINE: what" if it is no TOML, or nests deeper than any file of ours: the
/// library makes a table of every part of a dotted key and frees them by recursion.
[[nodiscard]] toml::table parse_toml(std::string_view text, const std::string& file);

/// The same of the file; `what` as file_text has it. At most 16 MiB.
[[nodiscard]] toml::table parse_toml_file(const std::string& file, const std::string& what);

/// Throws input_error "FILE:LINE: what", in one line whatever of the file stands in `what`.
[[noreturn]] void fail_at(const std::string& file, std::size_t line, const std::string& what);

}  // namespace kilter::inline v0::detail
