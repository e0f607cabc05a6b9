#pragma once
// The CPU time of threads: of a worker's own, and of another's.

#include <cstdint>

#include "base/sync.hpp"
#include "kilter/ids.hpp"
#include "runtime/clock.hpp"
#include "runtime/emulated_cores.hpp"

namespace kilter::inline v0::detail {

struct cpu_reading {
  std::uint64_t cycles = 0;  ///< when
  std::int64_t ns = -1;      ///< negative: none
};

/// A worker's own: what it had of its core.
class cpu_time {
 public:
  /// `emulated` may be null.
  cpu_time(core_id core, emulated_cores* emulated) noexcept : core_(core), emulated_(emulated) {}

  /// Until now, in nanoseconds. A system call, of half a microsecond.
  [[nodiscard]] std::int64_t ns() const noexcept {
    return emulated_ ? emulated_->cpu_nanoseconds(core_) : sync::thread_cpu_nanoseconds();
  }
  /// To know later what it had since. Short loops share a look.
  void look(const engine_clock& clock) noexcept {
    constexpr double shared_s = 1e-3;
    const std::uint64_t now = sync::cycles();
    if (seen_.ns < 0 || clock.seconds(now - seen_.cycles) > shared_s) seen_ = {now, ns()};
  }
  /// Seconds without the core since that look.
  [[nodiscard]] double off_core_s(const engine_clock& clock) const noexcept {
    return clock.seconds(sync::cycles() - seen_.cycles) -
           static_cast<double>(ns() - seen_.ns) * 1e-9;
  }
  /// It sleeps, which is no CPU time either.
  void forget() noexcept { seen_.ns = -1; }

 private:
  const core_id core_;
  emulated_cores* const emulated_;
  cpu_reading seen_;
};

}  // namespace kilter::inline v0::detail
