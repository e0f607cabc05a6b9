#pragma once
// Paragraphs for terminals.

#include <cstddef>
#include <string>

namespace kilter::lab {

/// The words of `text` in lines of at most `width`: the first line begins with `first`, the others with `rest`.
[[nodiscard]] std::string wrapped(const std::string& text, std::size_t width, const std::string& first, const std::string& rest);

}  // namespace kilter::lab
