#pragma once
// What one thread or child process of a disturber does: endless kernel chains, and time shares by a
// duty cycle.

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "base/sync.hpp"
#include "disturbing/disturbance.hpp"

namespace kilter::lab {

inline constexpr std::int64_t never_ns = std::numeric_limits<std::int64_t>::max();

/// Ends all loads of a disturber at once, those that sleep included.
class stop_signal {
 public:
  void raise() noexcept {
    word_.store(1, std::memory_order_release);
    sync::unpark(word_, std::numeric_limits<int>::max());
  }
  void clear() noexcept { word_.store(0, std::memory_order_release); }
  [[nodiscard]] bool raised() const noexcept { return word_.load(std::memory_order_relaxed) != 0; }
  /// Sleeps until `deadline_ns` of the monotonic clock. True if the signal was raised.
  bool sleep_until(std::int64_t deadline_ns) noexcept;

 private:
  std::atomic<std::uint32_t> word_{0};
};

/// What a load has done so far. Written by the load alone; lives in memory shared with its child
/// process.
struct load_counters {
  std::atomic<std::int64_t> iterations{0};
  std::atomic<std::int64_t> cpu_ns{0};  ///< CPU time consumed
  /// wall time in which it took something away (wave: its slow halves)
  std::atomic<std::int64_t> wall_ns{0};

  void clear() noexcept;
};

/// Endless chain of one kernel on buffers of its own (papers.md A1.3): 64 x 64 products, or 1024 x
/// 1024 copies.
class co_runner_chain {
 public:
  explicit co_runner_chain(bool copies);
  /// Runs until `deadline_ns` or the signal. Neither allocates nor locks, so a child of a fork may
  /// call it.
  void run(load_counters&, const stop_signal&, std::int64_t deadline_ns) noexcept;

 private:
  void once() noexcept;
  bool copies_;
  std::vector<float> a_, b_, c_;
};

/// An exact share of a core's time, left to others.
struct time_share {
  double share = 0.5;  ///< left to others
  /// 0: always; else full speed first, then `share`, half a period each
  double half_period_s = 0.0;
};

/// Takes 1 - share of the calling thread's core in periods of 10 ms, until `deadline_ns` or the
/// signal. With `realtime` (the thread is SCHED_FIFO) by a duty cycle on the wall clock. Without
/// it, it consumes the same CPU time if the scheduler grants it: against one busy thread a nice 0
/// thread gets about half of the core, and no more.
void run_time_share(const time_share&, bool realtime, load_counters&, stop_signal&,
                    std::int64_t deadline_ns) noexcept;

/// Makes the calling thread SCHED_FIFO. False if that is not permitted.
bool set_realtime() noexcept;

/// Restricts the calling thread to these CPUs of the operating system. False if none of them may be
/// used.
bool pin_to(std::span<const int> os_cpus) noexcept;

/// Time that the hypervisor took from this CPU since boot, in seconds; 0 where /proc/stat does not
/// tell.
double steal_seconds(int os_cpu);

}  // namespace kilter::lab
