#pragma once
// Which CPUs a mask that was narrowed to a quota should have while the program runs. Pure: who asks
// tells what is paid for and what others use.

#include <cstdint>

#include "openmp/others.hpp"

namespace kilter::regions {

/// CPUs are named by their place in the list that they are chosen from.
class chosen_cpus {
 public:
  static constexpr std::uint32_t most = 1024;  // of a cpu_set_t

  constexpr void begin(std::uint32_t count) noexcept {
    count_ = count < most ? count : most;
    chosen_ = 0;
  }
  constexpr void add(std::uint32_t cpu) noexcept {
    if (chosen_ < count_ && !has(cpu)) order_[chosen_++] = static_cast<std::uint16_t>(cpu);
  }

  /// `paid`: CPUs, at least one. `used`: the part of the latest while in which anybody used each
  /// CPU, null where that is not known. Whether anything has changed.
  constexpr bool pay_for(std::uint32_t paid, const double* used) noexcept {
    const std::uint32_t before = chosen_, wanted = paid < count_ ? paid : count_;
    while (chosen_ < wanted) add(least_used(used));
    while (chosen_ > wanted) drop_oldest();
    return chosen_ != before;
  }

  /// Whether the program would be better off anywhere: more of its threads work than it has CPUs,
  /// as they would not if it had asked, and may spin for one another; or others use CPUs of these
  /// while another one is free. `own`: CPUs that the process used in that while.
  [[nodiscard]] constexpr bool hold_up(const double* used, double own,
                                       std::uint32_t working_threads) const noexcept {
    if (all()) return false;
    if (working_threads > chosen_) return true;
    if (!used || own < works_from) return false;
    double others = -own;
    for (std::uint32_t n = 0; n < chosen_; ++n) others += used[order_[n]];
    return others >= counts_as_used_of(chosen_) && used[least_used(used)] < counts_as_used;
  }
  /// CPUs; a thread or process that has less does nothing.
  static constexpr double works_from = 0.02;

  [[nodiscard]] constexpr bool has(std::uint32_t cpu) const noexcept {
    for (std::uint32_t n = 0; n < chosen_; ++n)
      if (order_[n] == cpu) return true;
    return false;
  }
  [[nodiscard]] constexpr std::uint32_t size() const noexcept { return chosen_; }
  [[nodiscard]] constexpr bool all() const noexcept { return chosen_ == count_; }

 private:
  /// Of those that are not chosen.
  [[nodiscard]] constexpr std::uint32_t least_used(const double* used) const noexcept {
    std::uint32_t least = count_;
    for (std::uint32_t cpu = 0; cpu < count_; ++cpu)
      if (!has(cpu) && (least == count_ || (used && used[cpu] < used[least]))) least = cpu;
    return least;
  }
  constexpr void drop_oldest() noexcept {
    for (std::uint32_t n = 1; n < chosen_; ++n) order_[n - 1] = order_[n];
    --chosen_;
  }

  std::uint16_t order_[most] = {};  // the one that has been chosen for longest first
  std::uint32_t chosen_ = 0, count_ = 0;
};

}  // namespace kilter::regions
