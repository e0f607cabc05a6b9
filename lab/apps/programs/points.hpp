#pragma once
// Points to cluster: from a picture, from a table of numbers, or drawn.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kilter::apps {

/// `count` points of `dimensions` numbers each, point by point.
struct point_set {
  std::size_t count = 0, dimensions = 0;
  std::vector<float> values;
  int exponent = 0;  ///< the numbers that somebody gave are these times 2 to this

  [[nodiscard]] std::span<const float> at(std::size_t point) const noexcept {
    return {values.data() + point * dimensions, dimensions};
  }
};

/// Rows of numbers, separated by commas, semicolons, tabs or blanks; empty lines count for nothing,
/// and a first line with words is a heading. input_error naming `file` and the line for rows of
/// unlike lengths, for what is missing between commas, what is no number, NaN and infinity, and for
/// a table without rows.
[[nodiscard]] point_set read_table(std::string_view text, const std::string& file);

/// Whole numbers from 0 to 255, each as likely as any other: the input that the public code behind
/// S0 draws.
[[nodiscard]] point_set drawn_points(std::size_t count, std::size_t dimensions, std::uint64_t seed);

/// Multiplies all by a power of two, so that the largest is from 1 to 2: float then holds squares
/// of them, however large or small they were.
void bring_near_one(point_set&);

/// Rounds all values to multiples of a power of two, so coarse that no sum of up to `count` of them
/// in double is rounded, and finer than float tells large values apart. Sums then do not depend on
/// their order.
void make_sums_exact(point_set&);

}  // namespace kilter::apps
