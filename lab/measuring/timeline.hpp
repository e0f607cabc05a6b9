#pragma once
// When which part of a scenario is present, and what the least time is in which a DAG can run under
// it.

#include <cstdint>
#include <functional>
#include <vector>

#include "disturbing/disturbance.hpp"

namespace kilter::lab {

/// Bit i: part i of the scenario takes performance.
using active_set = std::uint64_t;
inline constexpr std::size_t most_parts = 64;

/// The parts that are present `at_s` seconds after the start of a run of `run_s` seconds (for
/// windows in fractions). A wave starts with full speed when its window opens.
[[nodiscard]] active_set active_at(const std::vector<disturbance>& parts, double at_s,
                                   double run_s);
/// The next time after `at_s` at which that may change; infinite if never.
[[nodiscard]] double next_change(const std::vector<disturbance>& parts, double at_s, double run_s);
/// Every set that is present at some time of a run of `run_s` seconds, ascending.
[[nodiscard]] std::vector<active_set> sets_within(const std::vector<disturbance>& parts,
                                                  double run_s);

/// The parts of the set, as they are while present: without windows, a wave as the share that its
/// slow half leaves.
[[nodiscard]] std::vector<disturbance> steady_parts(const std::vector<disturbance>& parts,
                                                    active_set);

/// Speed of the machine while one set is present, in tasks a second.
struct speed {
  double capacity_per_s = 0.0;  ///< all cores at once
  double freest_per_s = 0.0;    ///< the fastest place alone
};

/// What a run may gain on those speeds while one set is present, in tasks: of all work, and of the
/// path.
struct head_start {
  double tasks = 0.0, path_tasks = 0.0;
};

/// The least time in seconds: all `tasks` at full capacity, and `path` tasks one after the other on
/// whichever place is fastest, from the start of the run. The longer one of the two. `speed_of` is
/// asked for the sets that occur.
[[nodiscard]] double bound_s(const std::vector<disturbance>& parts, double tasks, double path,
                             const std::function<speed(active_set)>& speed_of,
                             const head_start& = {});

}  // namespace kilter::lab
