#pragma once
// Names from outside (threads, types, files) as text that a terminal only shows and never obeys.

#include <cstddef>
#include <string>
#include <string_view>

namespace kilter {

/// Bytes of the well-formed UTF-8 sequence at the start of `text`; 0 if there is none (Unicode 15,
/// table 3-7).
[[nodiscard]] std::size_t utf8_length(std::string_view text) noexcept;

/// `text` with its valid UTF-8 as it is, and with every control character (C0, DEL, C1) and every
/// other byte as an escape that can be seen: ESC as \x1b, U+009B as \u009b. Nothing is left out and
/// nothing is cut, and no escape spans lines.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace kilter
