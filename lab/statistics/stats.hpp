#pragma once
// The few statistics that results are made of, in one place.

#include <limits>
#include <span>
#include <vector>

namespace kilter::lab {

/// What a statistic of nothing is.
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Median, the mean of the middle two if their number is even. NaN if there are none.
[[nodiscard]] double median(std::vector<double> values);
/// NaN if there are none.
[[nodiscard]] double mean(std::span<const double> values) noexcept;

/// Standard deviation with n - 1 in the denominator; 0 of fewer than two.
[[nodiscard]] double deviation(std::span<const double> values) noexcept;

/// Of values above 0, the same on every compiler and processor. NaN if there are none.
[[nodiscard]] double geometric_mean(std::span<const double> values) noexcept;

/// Median with the smallest and largest value; all NaN if there are none.
struct spread {
  double median, smallest, largest;
};
[[nodiscard]] spread spread_of(const std::vector<double>& values);

}  // namespace kilter::lab
