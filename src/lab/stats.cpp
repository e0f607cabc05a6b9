#include "lab/stats.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "sim/numbers.hpp"

namespace kilter::lab {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

double median(std::vector<double> values) {
  if (values.empty()) return none;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2.0;
}

double mean(std::span<const double> values) noexcept {
  return values.empty() ? none : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double geometric_mean(std::span<const double> values) noexcept {
  if (values.empty()) return none;
  double sum = 0.0;
  for (const double v : values) sum += sim::log_of(v);
  return sim::exp_of(sum / static_cast<double>(values.size()));
}

spread spread_of(const std::vector<double>& values) {
  if (values.empty()) return {none, none, none};
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return {median(values), *low, *high};
}

}  // namespace kilter::lab
