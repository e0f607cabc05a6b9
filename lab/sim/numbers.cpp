#include "sim/numbers.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>

namespace kilter::sim {

namespace {

// ln 2 in two parts, the first exact in 32 bits
constexpr double ln2_high = 6.93147180369123816490e-01;
constexpr double ln2_low = 1.90821492927058770002e-10;

constexpr std::uint64_t below_exponent = 0x000fffffffffffffULL;
constexpr std::uint64_t sqrt_2_fraction =
    std::bit_cast<std::uint64_t>(1.4142135623730951) & below_exponent;

// 1/k: a division a term would be most of the time that a draw takes.
constexpr std::array<double, 22> one_over = [] {
  std::array<double, 22> all{};
  for (std::size_t k = 1; k < all.size(); ++k) all[k] = 1.0 / static_cast<double>(k);
  return all;
}();

template <std::size_t n>
using numbers = std::array<double, n>;

// x = 2^e m with m in [1/sqrt 2, sqrt 2); ln m = 2 atanh((m - 1) / (m + 1)).
template <std::size_t n>
numbers<n> logs(numbers<n> x) noexcept {
  numbers<n> e, s, z, sum{};
  for (std::size_t i = 0; i < n; ++i) {
    int exponent = -1023;
    while (x[i] < 0x1p-1000) {
      x[i] *= 0x1p64;
      exponent -= 64;
    }
    const auto bits = std::bit_cast<std::uint64_t>(x[i]), fraction = bits & below_exponent;
    // Half of all numbers are above, so a branch would often be foretold wrongly.
    const std::uint64_t above = fraction > sqrt_2_fraction;
    e[i] = exponent + static_cast<int>((bits >> 52) + above);
    const double m = std::bit_cast<double>(fraction | ((1023 - above) << 52));
    s[i] = (m - 1.0) / (m + 1.0);
    z[i] = s[i] * s[i];
  }
  for (std::size_t k = 21;; k -= 2) {
    for (std::size_t i = 0; i < n; ++i) sum[i] = sum[i] * z[i] + one_over[k];
    if (k == 1) break;
  }
  for (std::size_t i = 0; i < n; ++i)
    sum[i] = e[i] * ln2_high + (2.0 * s[i] * sum[i] + e[i] * ln2_low);
  return sum;
}

template <std::size_t n>
numbers<n> exps(const numbers<n>& x) noexcept {
  numbers<n> r, sum;
  std::array<int, n> e;
  for (std::size_t i = 0; i < n; ++i) {
    const double turns = x[i] * 1.4426950408889634;
    e[i] = static_cast<int>(turns + std::copysign(0.5, turns));
    r[i] = (x[i] - e[i] * ln2_high) - e[i] * ln2_low;  // |r| <= ln 2 / 2
    sum[i] = 1.0;
  }
  for (std::size_t k = 17; k >= 1; --k)
    for (std::size_t i = 0; i < n; ++i) sum[i] = 1.0 + sum[i] * (r[i] * one_over[k]);
  for (std::size_t i = 0; i < n; ++i)
    sum[i] *= std::bit_cast<double>(static_cast<std::uint64_t>(e[i] + 1023) << 52);
  return sum;
}

template <std::size_t n>
numbers<n> draw_normals(std::span<random_stream, n> r) noexcept {
  numbers<n> u, s;
  const auto draw = [&](std::size_t i) {
    u[i] = 2.0 * r[i].uniform() - 1.0;
    const double v = 2.0 * r[i].uniform() - 1.0;
    s[i] = u[i] * u[i] + v * v;
  };
  for (std::size_t i = 0; i < n; ++i) draw(i);
  for (std::size_t i = 0; i < n; ++i)
    while (!(s[i] > 0.0 && s[i] < 1.0)) draw(i);
  const numbers<n> l = logs(s);
  for (std::size_t i = 0; i < n; ++i) u[i] *= std::sqrt(-2.0 * l[i] / s[i]);
  return u;
}

}  // namespace

double log_of(double x) noexcept { return logs(numbers<1>{x})[0]; }
double exp_of(double x) noexcept { return exps(numbers<1>{x})[0]; }
several exps_of(const several& x) noexcept { return exps(x); }

double exponential(random_stream& r) noexcept { return -log_of(1.0 - r.uniform()); }

double normal(random_stream& r) noexcept {
  return draw_normals(std::span<random_stream, 1>(&r, 1))[0];
}

several normals(const random_stream::family& of, std::uint64_t first) noexcept {
  auto streams = [&]<std::size_t... i>(std::index_sequence<i...>) {
    return std::array{random_stream(of, first + i)...};
  }
  (std::make_index_sequence<at_a_time>{});
  return draw_normals(std::span(streams));
}

}  // namespace kilter::sim
