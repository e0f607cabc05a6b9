#pragma once
// Text that others wrote: whole files below a size, and pieces of them in a message of one line.

#include <cstddef>
#include <string>
#include <string_view>

namespace kilter {

/// What the file holds. input_error "WHAT 'PATH' ..." if it is a directory, cannot be read, or
/// holds more than `most_mib` MiB; no more than that is read, so that a device which never ends is
/// refused too. `what` says what kind of file it should be.
[[nodiscard]] std::string file_text(const std::string& path, const std::string& what,
                                    std::size_t most_mib);

/// printable(), and of more than `longest` bytes the beginning and "...".
[[nodiscard]] std::string one_line(std::string_view text, std::size_t longest = 60);

}  // namespace kilter
