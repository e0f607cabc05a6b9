#pragma once
// Distributions from nothing but + - * / and sqrt, so that every compiler and processor draws the same numbers.

#include "base/random.hpp"

namespace kilter::sim {

/// Natural logarithm; x > 0. Relative error under 1e-14.
[[nodiscard]] double log_of(double x) noexcept;
/// e^x; |x| <= 700. Relative error under 1e-14.
[[nodiscard]] double exp_of(double x) noexcept;
/// Mean 1.
[[nodiscard]] double exponential(random_stream&) noexcept;
/// Mean 0, standard deviation 1 (Marsaglia's polar method).
[[nodiscard]] double normal(random_stream&) noexcept;

}  // namespace kilter::sim
