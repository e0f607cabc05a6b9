#pragma once
// How many threads OpenBLAS should have. Pure: who asks tells what happens.

#include <algorithm>
#include <cstdint>

#include "openmp/trial.hpp"
#include "regions/threads_beside.hpp"

namespace kilter::regions {

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
