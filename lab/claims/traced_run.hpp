#pragma once
// Single events of one run, for a drawing of what happened when.

#include <cstdint>
#include <string>
#include <vector>

#include "kilter/machine.hpp"

namespace kilter::lab {

struct task_start {
  double start_s = 0.0;
  core_id leader = 0;
  std::uint32_t width = 1;
  bool critical = false;
};

/// What the trace table held for a type at the place that is watched, after a task there had ended.
struct learned_time {
  double at_s = 0.0;
  std::uint32_t type = 0;
  double seconds = 0.0;
};

struct traced_run {
  /// of each of the two lists; those that come later are counted only
  static constexpr std::size_t most_events = 20'000;

  std::uint32_t cores = 0;
  double makespan_s = 0.0;
  /// both 0 without a disturbance; `to` is the end of the run if it stays
  double disturbed_from_s = 0.0, disturbed_to_s = 0.0;
  std::vector<task_start> starts;
  std::vector<learned_time> learned;
  std::uint64_t left_out = 0;
  std::vector<std::string> types;  ///< names, by type
};

}  // namespace kilter::lab
