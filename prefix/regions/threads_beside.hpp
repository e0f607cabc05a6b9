#pragma once
// How many threads should share work out in equal parts while others use CPUs. Pure: who asks tells
// what they use.

#include <algorithm>
#include <cstdint>

namespace kilter::regions {

/// A part of a CPU. Below it the CPU counts as nobody's: the part is read from ticks of 10 ms over
/// about a tenth of a second.
inline constexpr double counts_as_used = 0.25;
/// The same of so many CPUs together. The errors of their ticks add up as the root of their number
/// does: .058 CPUs of two over .08 s (standard deviation, measured), so on sixteen busy ones .25
/// would be seen every second where nobody else is.
[[nodiscard]] constexpr double counts_as_used_of(std::uint32_t cpus) noexcept {
  double root = 1.0;  // of half of their number
  for (int step = 0; step < 8 && cpus > 2; ++step) root = 0.5 * (root + 0.5 * cpus / root);
  return counts_as_used * root;
}

/// As OpenBLAS shares a product out: its threads spin for one another, so n of them get n times
/// what the worst of their CPUs gives.
class threads_beside {
 public:
  constexpr explicit threads_beside(std::uint32_t cpus) noexcept : cpus_(cpus), best_(cpus) {}

  /// Threads that are worth it, at least one, after a while in which others used so many CPUs. One
  /// odd while changes nothing, but for the first.
  constexpr std::uint32_t after(double others) noexcept {
    const std::uint32_t wanted = wanted_beside(others);
    if (wanted == latest_ || latest_ == 0) best_ = wanted;
    latest_ = wanted;
    return best_;
  }

 private:
  /// A thread that shares its CPU loses more than its part: it spins away what it gets while
  /// another one works. Products of 300 x 300 beside a neighbour on one of two CPUs: two threads
  /// had .65 of the speed of one. A rough allowance, not fitted.
  static constexpr double spinning_loses = 1.2;

  [[nodiscard]] constexpr std::uint32_t wanted_beside(double others) const noexcept {
    // CPUs that are not ours at all
    const auto full =
        static_cast<std::uint32_t>(std::clamp(others, 0.0, static_cast<double>(cpus_ - 1)));
    // of one more
    const double part = std::clamp(others - full, 0.0, 1.0);
    const std::uint32_t most = cpus_ - full, whole = most - 1;
    if (part < counts_as_used || whole == 0) return most;
    if (most * (1.0 - part) <= spinning_loses * whole) return whole;
    return std::clamp(best_, whole, most);  // as it is: neither is clearly better
  }

  std::uint32_t cpus_, best_, latest_ = 0;
};

}  // namespace kilter::regions
