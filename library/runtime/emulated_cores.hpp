#pragma once
// Cores that are not there: what a runtime asks when the bodies of its tasks only last as long as
// they would on another machine.

#include <cstdint>

#include "kilter/ids.hpp"

namespace kilter::inline v0::detail {

/// Given to a runtime by its attachments. Its workers call it, each on its own thread and for its
/// own core.
class emulated_cores {
 public:
  virtual ~emulated_cores() = default;
  /// Seconds that pass here for one second there, above 0. The runtime counts in seconds there
  /// wherever it tells a time: to policies, trace tables, statistics and events.
  [[nodiscard]] virtual double scale() const noexcept = 0;
  /// Nanoseconds there that the core has given to its worker so far: what a thread's CPU clock
  /// tells of a real one.
  [[nodiscard]] virtual std::int64_t cpu_nanoseconds(core_id) noexcept = 0;
  /// False while something else has the whole core.
  [[nodiscard]] virtual bool has_core(core_id) noexcept = 0;
  /// Returns when has_core. Called when a worker starts, when it wakes, and after a wide task; at
  /// the end of a task of width 1 the core is its worker's, or the task would not have ended.
  virtual void wait_for_core(core_id) noexcept = 0;
};

}  // namespace kilter::inline v0::detail
