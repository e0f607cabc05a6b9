#pragma once
// How many threads OpenBLAS should have while others use CPUs. Pure: who asks tells what they use.

#include <algorithm>
#include <cstdint>

#include "openmp/others.hpp"
#include "openmp/trial.hpp"

namespace kilter::regions {

/// Its threads share a product out in equal parts and spin for one another, so n of them get n
/// times what the worst of their CPUs gives.
class blas_threads {
 public:
  constexpr explicit blas_threads(std::uint32_t cpus) noexcept : cpus_(cpus), best_(cpus) {}

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

/// Threads of an OpenMP library spin for a while after each region. Where OpenBLAS has its own
/// threads for what comes between, both kinds hold one another up, and one thread may be better
/// there. It is tried where that is seen, and kept if the program comes to more regions with it.
class blas_beside_regions {
 public:
  /// After a while. `held_up`: threads of the process that wanted to run and got no CPU, in the
  /// mean, beyond the CPUs that others used. `regions`: that the program has come to so far. True:
  /// one thread.
  constexpr bool after(double held_up, std::int64_t regions, std::int64_t now_ns) noexcept {
    const bool go_on = regions != regions_;
    if (go_on && (trial_.second() || held_up >= counts_as_used))
      trial_.look(regions, now_ns);
    else
      trial_.begin(regions, now_ns);
    regions_ = regions;
    return go_on && trial_.second();
  }

 private:
  static constexpr std::int64_t some_whiles_ns = 180'000'000, longest_known_ns = 64'000'000'000;
  trial trial_{some_whiles_ns, 1.05, false, longest_known_ns};
  std::int64_t regions_ = 0;
};

/// The number of one OpenBLAS, which its program may change as well.
class blas_number {
 public:
  /// `now`: what it has. Gives what it should have; `now` if that is right.
  constexpr std::uint32_t next(std::uint32_t now, std::uint32_t worth_it) noexcept {
    if (now != given_) asked_ = now;  // by the program, or from the start
    most_ = std::max(most_, asked_);
    given_ = std::min(asked_, worth_it);
    return given_;
  }
  [[nodiscard]] constexpr std::uint32_t asked() const noexcept { return asked_; }
  /// The program asks for no more than that now, and has asked for more.
  [[nodiscard]] constexpr bool lowered_below(std::uint32_t worth_it) const noexcept {
    return asked_ <= worth_it && most_ > worth_it;
  }

 private:
  std::uint32_t asked_ = 0, given_ = 0, most_ = 0;
};

}  // namespace kilter::regions
