#include "statistics/stats.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/numbers.hpp"

namespace kilter::lab {

double median(std::vector<double> values) {
  if (values.empty()) return nan;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2.0;
}

double mean(std::span<const double> values) noexcept {
  return values.empty() ? nan
                        : std::accumulate(values.begin(), values.end(), 0.0) /
                              static_cast<double>(values.size());
}

double deviation(std::span<const double> values) noexcept {
  if (values.size() < 2) return 0.0;
  const double middle = mean(values);
  double squares = 0.0;
  for (const double v : values) squares += (v - middle) * (v - middle);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double geometric_mean(std::span<const double> values) noexcept {
  if (values.empty()) return nan;
  double sum = 0.0;
  for (const double v : values) sum += sim::log_of(v);
  return sim::exp_of(sum / static_cast<double>(values.size()));
}

spread spread_of(const std::vector<double>& values) {
  if (values.empty()) return {nan, nan, nan};
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return {median(values), *low, *high};
}

}  // namespace kilter::lab
