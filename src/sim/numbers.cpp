#include "sim/numbers.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace kilter::sim {

namespace {

constexpr double ln2_high = 6.93147180369123816490e-01;  // ln 2 in two parts, the first exact in 32 bits
constexpr double ln2_low = 1.90821492927058770002e-10;

// 1/k: a division a term would be most of the time that a draw takes.
constexpr std::array<double, 22> one_over = [] {
  std::array<double, 22> all{};
  for (std::size_t k = 1; k < all.size(); ++k) all[k] = 1.0 / static_cast<double>(k);
  return all;
}();

}  // namespace

// x = 2^e m with m in [1/sqrt 2, sqrt 2); ln m = 2 atanh((m - 1) / (m + 1)).
double log_of(double x) noexcept {
  int e = 0;
  while (x < 0x1p-1000) {
    x *= 0x1p64;
    e -= 64;
  }
  const auto bits = std::bit_cast<std::uint64_t>(x);
  e += static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0x000fffffffffffffULL) | 0x3ff0000000000000ULL);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++e;
  }
  const double s = (m - 1.0) / (m + 1.0), z = s * s;
  double sum = 0.0;
  for (int k = 21; k >= 1; k -= 2) sum = sum * z + one_over[static_cast<std::size_t>(k)];
  return e * ln2_high + (2.0 * s * sum + e * ln2_low);
}

double exp_of(double x) noexcept {
  const double turns = x * 1.4426950408889634;
  const int e = static_cast<int>(turns + (turns < 0 ? -0.5 : 0.5));
  const double r = (x - e * ln2_high) - e * ln2_low;  // |r| <= ln 2 / 2
  double sum = 1.0;
  for (int k = 17; k >= 1; --k) sum = 1.0 + sum * (r * one_over[static_cast<std::size_t>(k)]);
  return sum * std::bit_cast<double>(static_cast<std::uint64_t>(e + 1023) << 52);
}

double exponential(random_stream& r) noexcept { return -log_of(1.0 - r.uniform()); }

double normal(random_stream& r) noexcept {
  for (;;) {
    const double u = 2.0 * r.uniform() - 1.0, v = 2.0 * r.uniform() - 1.0;
    const double s = u * u + v * v;
    if (s > 0.0 && s < 1.0) return u * std::sqrt(-2.0 * log_of(s) / s);
  }
}

}  // namespace kilter::sim
