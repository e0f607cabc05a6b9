#pragma once
// What a simulated run may gain on the average of a disturbance: by how much a bound that counts
// with averages is too long.

#include <vector>

#include "disturbing/disturbance.hpp"
#include "measuring/timeline.hpp"
#include "sim/platform.hpp"

namespace kilter::lab {

/// What cores do undisturbed, and the task that takes longest.
struct full_speed {
  std::vector<double> core_per_s;  ///< tasks a second of each core, if nothing else limits it
  double path_per_s = 0.0;         ///< of the longest path
  double path_per_cpu_s = 0.0;     ///< of the path, for a second of CPU time
  double largest = 1.0, path_largest = 1.0;  ///< in tasks
};

/// While one set of the parts is present, at the best moments for a run: a co-runner's slice comes
/// late, a clock still holds, a quota's time is spent at once, and who goes ends its tasks first.
[[nodiscard]] head_start head_start_of(const std::vector<disturbance>& parts, const sim::platform&,
                                       bool fluid, const full_speed&);

}  // namespace kilter::lab
