#pragma once
// The temperatures of a plate, where they come from and how they are kept.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apps/programs/picture.hpp"

namespace kilter::apps {

/// Part of its difference to the four neighbours that a point makes up for in a step: the
/// diffusivity times the time of a step over the square of the distance. Steps are stable up to
/// 1/4.
inline constexpr double heat_spread = 0.2;

/// cos(pi p (r + 1/2) / rows) cos(pi q (c + 1/2) / columns): keeps its form in an insulated plate
/// and only becomes weaker, so what it is after any number of steps is known without making them.
struct wave {
  std::size_t p = 0, q = 0;
  double height = 0.0;
};

struct plate {
  std::size_t rows = 0, columns = 0;
  std::uint64_t steps = 0;     ///< made so far
  std::vector<double> values;  ///< row by row; may be empty if `waves` are not
  std::vector<wave> waves;     ///< it began as their sum; empty: nobody knows
};

/// Of five waves that lose some, half or most of their height within `steps`, so that wrong steps
/// show.
[[nodiscard]] plate drawn_plate(std::size_t rows, std::size_t columns, std::uint64_t steps,
                                std::uint64_t seed);
/// The brightness of a picture, from 0 to 1, or a plate that was kept. input_error naming `file` if
/// the bytes are neither, or damaged.
[[nodiscard]] plate read_plate(std::string_view bytes, const std::string& file);
/// All of it, to continue from; read_plate gives back the same bits. At the end is a checksum
/// (CRC-32).
[[nodiscard]] std::string plate_file(const plate&);
/// In colours from blue (the least value) to red (the most); at most some 2,000 pixels wide and
/// high, each the first of the values that it stands for.
[[nodiscard]] picture picture_of(const plate&);

/// What waves are at any place and time, in a part of the plate.
class exact_plate {
 public:
  exact_plate(const plate&, std::uint64_t steps);
  [[nodiscard]] double at(std::size_t row, std::size_t column) const noexcept;

 private:
  std::size_t waves_;
  std::vector<double> down_, across_;  // of each row, or column, one factor a wave
};

}  // namespace kilter::apps
