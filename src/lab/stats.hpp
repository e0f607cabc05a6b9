#pragma once
// The few statistics that results are made of, in one place.

#include <span>
#include <vector>

namespace kilter::lab {

/// Median, the mean of the middle two if their number is even. NaN if there are none.
[[nodiscard]] double median(std::vector<double> values);
/// NaN if there are none.
[[nodiscard]] double mean(std::span<const double> values) noexcept;

/// Of values above 0, the same on every compiler and processor. NaN if there are none.
[[nodiscard]] double geometric_mean(std::span<const double> values) noexcept;

/// Median with the smallest and largest value; all NaN if there are none.
struct spread {
  double median, smallest, largest;
};
[[nodiscard]] spread spread_of(const std::vector<double>& values);

}  // namespace kilter::lab
