#pragma once
// Messages for names that do not exist.

#include <span>
#include <string>
#include <string_view>

namespace kilter::lab {

/// The only choice that begins with `word`, else the nearest if a typing error explains the
/// difference; else empty.
[[nodiscard]] std::string_view nearest(std::string_view word,
                                       std::span<const std::string_view> choices);

/// "unknown WHAT 'word': did you mean 'x'?", or if none is near "unknown WHAT 'word': there are a,
/// b, c".
[[nodiscard]] std::string unknown_name(std::string_view what, std::string_view word,
                                       std::span<const std::string_view> choices);

}  // namespace kilter::lab
