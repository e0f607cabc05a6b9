#pragma once
// What workers cost one another, as `kilter lab calibrate` measures it. Each figure is optional;
// without it the simulator charges what `overheads` says, however many workers there are.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kilter/machine.hpp"

namespace kilter::sim {

/// A figure that depends on a number of cores: known at some counts, on straight lines between
/// them, and beyond the first and the last as there. Empty: not known.
struct by_count {
  std::vector<std::uint32_t> counts;  ///< ascending, from 1 up
  std::vector<double> values;
  [[nodiscard]] bool told() const noexcept { return !counts.empty(); }
  [[nodiscard]] double at(std::uint32_t count) const noexcept;
  /// For the counts 0 to `most`; `otherwise` for all if the figure is not known.
  [[nodiscard]] std::vector<double> up_to(std::uint32_t most, double otherwise) const;
};

/// What passes, by width, from the end of a wide task to the start of the next on the same cores.
/// It takes the place of `overheads::assembly_s`.
struct gather_figure {
  kind_id kind = 0;
  by_count own_s;     ///< until the core that inserts the task is at it
  by_count others_s;  ///< until the last of the other cores is, all of them looking for work
};

/// How many times as long a body takes, by how many cores of its cluster are busy; at least 1.
struct busy_figure {
  kind_id kind = 0;
  by_count slower;
};

/// A worker that finds nothing looks on for `after_s` and then sleeps; for `long_after_s` where so
/// long a look would have spared it its last sleep.
struct sleep_figure {
  double after_s = 0.0, long_after_s = 0.0;
  double call_s = 0.0;  ///< what waking it costs the core that does
  double up_s = 0.0;    ///< from then until it looks for work
};

/// Who sleeps gives its core to a worker that lost its own in a task (docs/inside/lending.md).
struct lend_figure {
  /// so long after it fell asleep one of them looks again, then after twice as long each time, up
  /// to 16 times
  double looks_s = 0.0;
  double seconds = 0.0;  ///< from a look until the other goes on here
  /// of its turn a co-runner has at least so much, if the worker comes to its core meanwhile
  double keeps_s = 0.0;
};

/// What a policy takes for one answer about tasks of some length. It takes the place of the
/// searches of `overheads`.
struct decision_figure {
  std::string policy;
  double task_s = 0.0;
  double ready_s = 0.0, take_s = 0.0, next_s = 0.0;
};

struct contention {
  std::vector<gather_figure> gather;
  /// a look into another's queue, by how many look for work at once
  by_count look_s;
  by_count steal_s;  ///< a successful one, likewise
  std::optional<sleep_figure> sleep;
  std::optional<lend_figure> lend;  ///< only with `sleep`
  /// from one operation on a shared queue to the next, by how many use it back to back
  by_count queue_s;
  std::vector<busy_figure> busy;
  std::vector<decision_figure> decisions;

  /// Null if nothing is known.
  [[nodiscard]] const gather_figure* gather_on(kind_id) const noexcept;
  [[nodiscard]] const busy_figure* busy_on(kind_id) const noexcept;
  /// Of several the one whose tasks are nearest in length, by ratio.
  [[nodiscard]] const decision_figure* decisions_of(std::string_view policy,
                                                    double task_s) const noexcept;
};

}  // namespace kilter::sim
