#pragma once
// What a run's events add up to.

#include <cstdint>
#include <span>
#include <vector>

#include "trace/event.hpp"

namespace kilter::trace {

struct core_totals {
  /// time in which at least one task ran on the core: nested tasks are not counted twice
  double work_s = 0;
  double parked_s = 0;
  std::uint64_t tasks = 0;   ///< task parts that the core ran
  std::uint64_t steals = 0;  ///< tasks that it took from others
};

struct place_totals {
  place where;
  /// executions of critical tasks; a wide task counts once, however many members turned up
  std::uint64_t critical = 0;
  std::uint64_t other = 0;
};

struct summary {
  std::vector<core_totals> cores;    ///< indexed by core id
  std::vector<place_totals> places;  ///< places that ran something, by leader, then width
  std::uint64_t explored = 0;        ///< executions whose place was chosen to learn about it
  double seconds = 0;                ///< first start to last end of a task

  /// Share of all critical executions that ran on `where`, 0 .. 1; 0 if there were none.
  [[nodiscard]] double critical_share(place where) const noexcept;
};

/// Events in any order; those of cores >= `cores` count for places only. O(n log n).
[[nodiscard]] summary summarize(std::span<const event> events, std::uint32_t cores);

}  // namespace kilter::trace
