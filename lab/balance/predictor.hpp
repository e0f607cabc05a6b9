#pragma once
// Third stage (papers.md S4, section III-C, Eq. 1-3): what an exchange would do to the access rates
// of both threads. Needs rates; without them nobody may call it.

#include <cstdint>
#include <optional>
#include <span>

#include "balance/selector.hpp"

namespace kilter::balance {

struct swap_forecast {
  /// expected access rates in the next quantum if they are exchanged
  double low_per_s = 0.0, high_per_s = 0.0;
  double profit_per_s = 0.0;  ///< totalProfit, Eq. 3
};

/// A thread that moves is assumed to get what its new core gave so far: CoreBW, where several
/// threads share a core the share of one of them. `overhead_s` is swapOH of Eq. 2 (papers.md E48).
/// `bandwidth[c]` and `threads_on[c]` must be there for the cores of both.
[[nodiscard]] swap_forecast predict_swap(const thread_pair&,
                                         std::span<const std::optional<double>> bandwidth,
                                         std::span<const std::uint32_t> threads_on,
                                         double quantum_s, double overhead_s);

/// (predicted - actual) / actual, positive when too much was expected (papers.md E45); none if
/// nothing was accessed.
[[nodiscard]] std::optional<double> prediction_error(double predicted, double actual);

}  // namespace kilter::balance
