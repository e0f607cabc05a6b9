#pragma once
// What an engine saw of one finished task.

#include <cstdint>
#include <span>

#include "kilter/ids.hpp"

namespace kilter {
inline namespace v0 {

struct member_time {
  core_id core = 0;
  double seconds = 0.0;
  std::uint32_t chunks = 0;
};

/// How far a core is from the one whose caches have what a task works on.
enum class distance : std::uint8_t {
  unknown,
  none,     ///< it is that core
  cluster,  ///< one beside it
  beyond,
  at_hand,  ///< it is that core, and it has run nothing since it released the task
};

/// Question 5: what was seen of a task. Seconds of wall clock.
struct measured {
  /// what the engine's timing mode counts as the task's time; > 0
  double sample_s = 0.0;
  double leader_s = 0.0;  ///< the leader's own span (papers.md S0, S2)
  double span_s = 0.0;    ///< first chunk start to last chunk end
  double cpu_s = 0.0;     ///< CPU time of a long width-1 task; 0 if not measured
  /// > 1: `sample_s` is the mean of that many very short tasks in a row, timed as one
  std::uint32_t tasks = 1;
  /// how many times it did what its type does (task_options::work); 0 if that is not told
  double work = 0.0;
  distance from_data = distance::unknown;  ///< of a width-1 task, before it began
  bool leader_first = true;                ///< false: `sample_s` is the span (papers.md E3)
  std::span<const member_time> members{};
};

}  // namespace v0
}  // namespace kilter
