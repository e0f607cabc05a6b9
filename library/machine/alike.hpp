#pragma once
// When two numbers that a kernel gives for the speed of cores tell two kinds apart.

#include <algorithm>

namespace kilter::inline v0::detail {

/// Cores of one design differ a little: the best of a chip get a higher clock than their neighbours
/// (up to about 6 %: favoured cores), and a kernel derives capacities from such clocks (NVIDIA's
/// GB10: 997, 1017 and 1024 of ten equal cores, 718 and 731 of the other ten). Two designs on one
/// chip differ by a fifth or more.
inline constexpr double alike_within = 0.9;

[[nodiscard]] constexpr bool alike(double a, double b) noexcept {
  return std::min(a, b) >= alike_within * std::max(a, b);
}

}  // namespace kilter::inline v0::detail
