#pragma once
// What a cell's last samples say that the body takes when nobody interrupts it.

#include "model/row.hpp"

namespace kilter::model {

/// Samples that make an intrinsic time trustworthy.
inline constexpr std::uint32_t settled_samples = 3;

/// How many of the last samples count: 16, fewer if they would reach back further than about 64 ms,
/// at least three.
inline std::uint32_t window_for(double sample_s) noexcept {
  constexpr double reach_s = 0.064;
  if (sample_s * cell_state::window <= reach_s) return cell_state::window;
  const double n = reach_s / sample_s;
  return n < settled_samples ? settled_samples : static_cast<std::uint32_t>(n);
}

/// Low median of the last `count` of `remembered` samples; count > 0.
double low_median(const cell_state&, std::uint32_t remembered, std::uint32_t count) noexcept;

/// Mean of a full window without the samples that carry an interruption (more than twice
/// `typical_s` and half a millisecond), so that bodies whose work varies are not held against their
/// shortest. 0 if most samples are beyond that: the work has changed.
double mean_without_gaps(const cell_state&, double typical_s) noexcept;

}  // namespace kilter::model
