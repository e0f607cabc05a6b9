#pragma once
// Text for terminals.

#include <cstddef>
#include <string>
#include <string_view>

namespace kilter::lab {

/// Lines of more than `columns` are broken at spaces. What follows stands under the description of
/// an entry ("  --name  description"), under the words of an item ("- item") or under the line's
/// first word; of a command ("  kilter ...") it follows a backslash, so that it can be copied.
/// Escapes of colours have no width.
[[nodiscard]] std::string fitted(std::string_view text, std::size_t columns);

}  // namespace kilter::lab
