#pragma once
// Pictures as programs read and write them: PNG by libpng, and binary PPM.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kilter::apps {

/// Red, green, blue, a byte each, row by row from the top.
struct picture {
  std::size_t width = 0, height = 0;
  std::vector<std::uint8_t> rgb;
};

/// By its first bytes.
[[nodiscard]] bool is_picture(std::string_view bytes) noexcept;
/// input_error naming `file` for bytes that are no such picture, or only the beginning of one. At
/// most 64 million pixels.
[[nodiscard]] picture read_picture(std::string_view bytes, const std::string& file);
[[nodiscard]] std::string as_png(const picture&);

}  // namespace kilter::apps
