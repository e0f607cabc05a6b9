#include "balance/measures.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "balance/observer.hpp"

namespace kilter::balance {

double run_time_fairness(std::span<const std::vector<double>> run_times_s) {
  double sum = 0.0;
  for (const auto& times : run_times_s) sum += coefficient_of_variation(times);
  return 1.0 - sum / static_cast<double>(run_times_s.size());
}

double slowdown_ratio(std::span<const double> together_s, std::span<const double> alone_s) {
  double least = together_s[0] / alone_s[0], most = least;
  for (std::size_t i = 1; i < together_s.size(); ++i) {
    least = std::min(least, together_s[i] / alone_s[i]);
    most = std::max(most, together_s[i] / alone_s[i]);
  }
  return most / least;
}

double arithmetic_mean(std::span<const double> v) {
  return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
}

double geometric_mean(std::span<const double> v) {
  double sum = 0.0;
  for (const double x : v) sum += std::log(x);
  return std::exp(sum / static_cast<double>(v.size()));
}

}  // namespace kilter::balance
