#pragma once
// Random numbers that need no state: the n-th is computed from n, whoever asks and in whatever
// order.

#include <array>
#include <cmath>
#include <cstdint>

namespace kilter::apps {

/// Philox4x32-10: four random words of a counter and a key. Salmon, Moraes, Dror, Shaw, Parallel
/// Random Numbers: As Easy as 1, 2, 3 (SC 2011).
[[nodiscard]] inline std::array<std::uint32_t, 4> philox(
    std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) noexcept {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t even = std::uint64_t{0xD2511F53u} * counter[0],
                        odd = std::uint64_t{0xCD9E8D57u} * counter[2];
    counter = {static_cast<std::uint32_t>(odd >> 32) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(odd),
               static_cast<std::uint32_t>(even >> 32) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(even)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return counter;
}

/// The middle of one of 2^32 equal parts of 0 .. 1, so neither 0 nor 1.
[[nodiscard]] constexpr double uniform_of(std::uint32_t word) noexcept {
  return (word + 0.5) * 0x1p-32;
}

/// Below which x a part `p` (above 0, below 1) of a normal distribution is. P. J. Acklam, An
/// algorithm for computing the inverse normal cumulative distribution function (2003). Wrong by
/// less than 1.15e-9 of x.
[[nodiscard]] inline double inverse_normal(double p) noexcept {
  constexpr double tail = 0.02425;
  const auto in_tail = [](double part) {
    const double q = std::sqrt(-2 * std::log(part));
    const double above =
        ((((-7.784894002430293e-03 * q - 3.223964580411365e-01) * q - 2.400758277161838e+00) * q -
          2.549732539343734e+00) *
             q +
         4.374664141464968e+00) *
            q +
        2.938163982698783e+00;
    const double under =
        (((7.784695709041462e-03 * q + 3.224671290700398e-01) * q + 2.445134137142996e+00) * q +
         3.754408661907416e+00) *
            q +
        1;
    return above / under;
  };
  if (p < tail) return in_tail(p);
  if (p > 1 - tail) return -in_tail(1 - p);
  const double q = p - 0.5, r = q * q;
  const double above =
      ((((-3.969683028665376e+01 * r + 2.209460984245205e+02) * r - 2.759285104469687e+02) * r +
        1.383577518672690e+02) *
           r -
       3.066479806614716e+01) *
          r +
      2.506628277459239e+00;
  const double under =
      ((((-5.447609879822406e+01 * r + 1.615858368580409e+02) * r - 1.556989798598866e+02) * r +
        6.680131188771972e+01) *
           r -
       1.328068155288572e+01) *
          r +
      1;
  return q * above / under;
}

}  // namespace kilter::apps
