#pragma once
// What the terminal of this invocation can show.

#include <cstddef>
#include <string_view>

namespace kilter::lab {

/// Of the terminal, from 60 to 200; 100 if `descriptor` is none.
[[nodiscard]] std::size_t columns_of(int descriptor);

/// True if `descriptor` is a terminal and NO_COLOR is not set.
[[nodiscard]] bool colour_wanted(int descriptor);

/// Text on standard output, fitted to its width. Throws as write_output does.
void show(std::string_view text);
/// Text on standard error, fitted to its width.
void show_aside(std::string_view text);

}  // namespace kilter::lab
