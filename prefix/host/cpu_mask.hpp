#pragma once
// Sets of the operating system's CPUs, and the two calls that read and write a thread's.

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace kilter::host {

/// CPUs by the operating system's index, 0 .. capacity - 1. Plain data: it lies in files that two
/// processes share.
struct cpu_mask {
  static constexpr int capacity = 4096;
  std::array<std::uint64_t, capacity / 64> words{};

  [[nodiscard]] static cpu_mask of(int cpu) noexcept;
  [[nodiscard]] static cpu_mask all() noexcept;
  [[nodiscard]] bool has(int cpu) const noexcept;
  [[nodiscard]] int count() const noexcept;
  /// The only CPU of the set, -1 if it has none or several.
  [[nodiscard]] int single() const noexcept;
  friend bool operator==(const cpu_mask&, const cpu_mask&) = default;
};

[[nodiscard]] cpu_mask either(const cpu_mask&, const cpu_mask&) noexcept;
[[nodiscard]] cpu_mask both(const cpu_mask&, const cpu_mask&) noexcept;

/// "0-3,6"; "all" for the full set, empty for the empty one.
[[nodiscard]] std::string to_text(const cpu_mask&);
/// The inverse, as /sys/devices/system/cpu/online is written. What cannot be read is left out.
[[nodiscard]] cpu_mask mask_from(const std::string& text) noexcept;

/// Where the thread may run: its own mask within its cpuset. nullopt with errno if it is gone.
[[nodiscard]] std::optional<cpu_mask> affinity_of(pid_t tid) noexcept;
/// 0, or the error: ESRCH gone, EPERM another user's, EINVAL none of the CPUs is in its cpuset.
[[nodiscard]] int set_affinity(pid_t tid, const cpu_mask&) noexcept;

/// The CPUs that are switched on, as they were at the first call.
[[nodiscard]] const cpu_mask& online_cpus();
/// What gives a thread back the mask `original`. The kernel remembers the mask that was asked for
/// and intersects it with cpusets that come later; a thread that could use every CPU gets the full
/// set, so that it follows a cpuset that grows.
[[nodiscard]] const cpu_mask& asking_for(const cpu_mask& original) noexcept;

}  // namespace kilter::host
