#pragma once
// How many of the process's CPUs others use: what /proc/stat says of these CPUs, less the process's
// own CPU time.

#include <sched.h>

#include <cstdint>

#include "regions/threads_beside.hpp"

namespace kilter::regions {

/// Reads are 60 us on two CPUs; ticks are 10 ms, so a while below .08 s says little. One thread at
/// a time.
class others_use {
 public:
  /// Of the CPUs that the process may use now. Nothing is read yet.
  others_use() noexcept;

  /// CPUs that others used since the call before, another machine on the same computer too;
  /// negative: not known.
  [[nodiscard]] double since_before() noexcept;
  /// The same, but where the process itself did next to nothing since then, nothing is read, and it
  /// is not known.
  [[nodiscard]] double since_before_if_worked() noexcept;
  /// Fewer CPUs than that say nothing.
  [[nodiscard]] double least_told() const noexcept {
    return counts_as_used_of(static_cast<std::uint32_t>(CPU_COUNT(&mask_)));
  }
  /// CPU time of the process.
  [[nodiscard]] static std::int64_t own_ns() noexcept;

 private:
  cpu_set_t mask_;
  double tick_ns_;
  std::int64_t ticks_ = -1, own_ns_, at_ns_;
};

/// How many of the process's threads are held up: what the kernel counts for each (schedstat). Some
/// microseconds a thread.
class own_wait {
 public:
  /// In the mean since the call before; 0: not known.
  [[nodiscard]] double since_before() noexcept;

 private:
  std::int64_t waited_ns_ = -1, at_ns_ = 0;
};

}  // namespace kilter::regions
