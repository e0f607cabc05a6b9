#pragma once
// How many of n things each gets whose weight is known.

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kilter::inline v0::detail {

/// Cuts 0 .. n-1 into parts that are as large as their weights are against each other, one after
/// the other. Some weight is positive.
class proportional_cut {
 public:
  proportional_cut(std::uint64_t n, const std::vector<double>& weights) noexcept : n_(n) {
    for (const double w : weights) sum_ += w;
  }
  /// Where the part of the next weight ends; n for the last.
  [[nodiscard]] std::uint64_t end_of_next(double weight) noexcept {
    before_ += weight;
    const double end = static_cast<double>(n_) * (before_ / sum_) + 0.5;
    at_ = end < static_cast<double>(n_) ? std::max(at_, static_cast<std::uint64_t>(end)) : n_;
    return at_;
  }

 private:
  const std::uint64_t n_;
  double sum_ = 0.0, before_ = 0.0;
  std::uint64_t at_ = 0;
};

}  // namespace kilter::inline v0::detail
