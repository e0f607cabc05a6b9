#pragma once
// Distributions from nothing but + - * / and sqrt, so that every compiler and processor draws the
// same numbers.
//
// Several numbers at a time cost a fraction of what they do one by one: the terms of a sum wait for
// each other, but not for those of another sum. Each has the same bits either way.

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/random.hpp"

namespace kilter::sim {

/// How many at a time are worth it: they fit the registers of every processor.
inline constexpr std::size_t at_a_time = 8;
using several = std::array<double, at_a_time>;

/// Natural logarithm; x > 0. Relative error under 1e-14.
[[nodiscard]] double log_of(double x) noexcept;
/// e^x; |x| <= 700. Relative error under 1e-14.
[[nodiscard]] double exp_of(double x) noexcept;
[[nodiscard]] several exps_of(const several& x) noexcept;
/// Mean 1.
[[nodiscard]] double exponential(random_stream&) noexcept;
/// Mean 0, standard deviation 1 (Marsaglia's polar method).
[[nodiscard]] double normal(random_stream&) noexcept;
/// The first of each of the streams from number `first` on.
[[nodiscard]] several normals(const random_stream::family&, std::uint64_t first) noexcept;

}  // namespace kilter::sim
