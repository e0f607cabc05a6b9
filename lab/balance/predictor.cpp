#include "balance/predictor.hpp"

namespace kilter::balance {

swap_forecast predict_swap(const thread_pair& pair,
                           std::span<const std::optional<double>> bandwidth,
                           std::span<const std::uint32_t> threads_on, double quantum_s,
                           double overhead_s) {
  const auto share = [&](core_id c) { return bandwidth[c].value_or(0.0) / threads_on[c]; };
  const double lost = overhead_s / quantum_s;
  const double low = share(pair.high.core) - lost * pair.low.rate_per_s;
  const double high = share(pair.low.core) - lost * pair.high.rate_per_s;
  return {.low_per_s = low,
          .high_per_s = high,
          .profit_per_s = (low - pair.low.rate_per_s) + (high - pair.high.rate_per_s)};
}

std::optional<double> prediction_error(double predicted, double actual) {
  if (actual == 0.0) return std::nullopt;
  return (predicted - actual) / actual;
}

}  // namespace kilter::balance
