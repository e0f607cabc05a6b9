#pragma once
// The one event schema: threads and simulator record the same facts, so one set of writers and
// summaries serves both.

#include <cstdint>
#include <type_traits>

#include "kilter/ids.hpp"

namespace kilter::trace {

/// What happened. Each line says which fields carry more than the times and the core.
enum class event_kind : std::uint8_t {
  /// one member's part of a task, on the core that ran it: task, graph, type, leader, width,
  /// member, flags
  task,
  /// the core took `task` from core `leader`; start to end is the search (equal: not timed)
  steal,
  park,  ///< the core slept
  /// the table learned: place (leader, width) of `type` now costs `value` seconds; `aux` is the
  /// slowdown of `core`
  table,
  /// `core` placed a critical task on (leader, width), which the table expects to take `value`
  /// seconds
  decision,
  /// something took performance from `core`; `value` is the share left to the program, `type` its
  /// label
  disturbance,
  marker  ///< a point or span worth a name of its own: `type` is its label
};

namespace event_flag {
inline constexpr std::uint8_t critical = 1;  ///< the task was critical when it was placed
/// the place was chosen to learn about it, not because it looked best
inline constexpr std::uint8_t explored = 2;
inline constexpr std::uint8_t stolen = 4;  ///< the task was taken from another core's queue
inline constexpr std::uint8_t wide = 8;    ///< the task ran on more than one core
}  // namespace event_flag

/// One record. Times are nanoseconds of the engine's clock since its run began; an instant has
/// end_ns == start_ns.
struct event {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  core_id core = 0;
  std::uint32_t task = 0;  ///< index of the task in its graph
  /// number of the graph run; (graph, task) is one execution of one task
  std::uint32_t graph = 0;
  core_id leader = 0;
  std::uint16_t width = 1;
  /// index into the recorder's type names; for disturbance and marker into its labels
  std::uint16_t type = 0;
  std::uint16_t member = 0;  ///< which member of a wide task, 0 .. width - 1
  event_kind kind = event_kind::task;
  std::uint8_t flags = 0;
  float value = 0;  ///< see event_kind
  float aux = 0;    ///< see event_kind; 0: not given

  [[nodiscard]] constexpr bool has(std::uint8_t flag) const noexcept { return (flags & flag) != 0; }
};

static_assert(sizeof(event) <= 48,
              "an event is written by every traced task; two of them fit 1.5 cache lines");
static_assert(std::is_trivially_copyable_v<event>);

}  // namespace kilter::trace
