#pragma once
// Which CPUs a mask that was narrowed to a quota should have while the program runs. Pure: who asks tells what is paid for and what others use.

#include <cstdint>

#include "regions/others_use.hpp"

namespace kilter::regions {

/// CPUs are named by their place in the list that they are chosen from.
class chosen_cpus {
 public:
  static constexpr std::uint32_t most = 1024;   // of a cpu_set_t

  constexpr void begin(std::uint32_t count) noexcept {
    count_ = count < most ? count : most;
    chosen_ = 0;
  }
  constexpr void add(std::uint32_t cpu) noexcept {
    if (chosen_ < count_ && !has(cpu)) order_[chosen_++] = static_cast<std::uint16_t>(cpu);
  }

  /// After a while; `paid`: CPUs, at least one. `used`: the part of it in which anybody used each CPU, null where that is not known; `own`: CPUs that the process used.
  /// Whether anything has changed. One at a time is exchanged: on which of ours the others are is not told, but the one that has been ours for longest goes, and comes
  /// back at the next look if it was not that.
  constexpr bool revise(std::uint32_t paid, const double* used, double own) noexcept {
    const std::uint32_t before = chosen_, wanted = paid < count_ ? paid : count_;
    while (chosen_ < wanted) add(least_used(used));
    while (chosen_ > wanted) drop_oldest();
    if (chosen_ != before) return true;
    if (!used || own < idle_part || chosen_ == count_) return false;
    double others = -own;
    for (std::uint32_t n = 0; n < chosen_; ++n) others += used[order_[n]];
    const std::uint32_t better = least_used(used);
    if (used[better] >= counts_as_used || others < counts_as_used + used[better]) return false;
    drop_oldest();
    add(better);
    return true;
  }

  [[nodiscard]] constexpr bool has(std::uint32_t cpu) const noexcept {
    for (std::uint32_t n = 0; n < chosen_; ++n)
      if (order_[n] == cpu) return true;
    return false;
  }
  [[nodiscard]] constexpr std::uint32_t size() const noexcept { return chosen_; }
  [[nodiscard]] constexpr bool all() const noexcept { return chosen_ == count_; }

 private:
  static constexpr double idle_part = 0.02;   // of a CPU: the program does nothing, so nothing is changed

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

  std::uint16_t order_[most] = {};   // the one that has been chosen for longest first
  std::uint32_t chosen_ = 0, count_ = 0;
};

}  // namespace kilter::regions
