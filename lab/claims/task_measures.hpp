#pragma once
// What claims about tasks look at: from a scenario to a specification, from that to a run, from
// runs to a number.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "claims/experiment_file.hpp"
#include "claims/observed.hpp"
#include "measuring/specification.hpp"

namespace kilter::lab {

/// Runs of all seeds of one scenario with one value of each of its axes.
using task_runs = std::function<const std::vector<observed>&(const selection& run)>;

/// Whether one has a window in parts of a run, which is the run without them.
[[nodiscard]] bool in_parts_of_a_run(const std::vector<disturbance>&);

/// What the run is; of a native scenario all but its program. input_error for a value of a
/// parameter that cannot be.
[[nodiscard]] specification specification_of(const experiment_scenario&, const selection& run,
                                             std::uint32_t seed);

/// Single events that a figure wants, and the place whose learned time it shows, "LEADER,WIDTH".
struct watching {
  std::optional<std::string> place;
};

/// One run, in virtual time. input_error if the platform refuses it.
[[nodiscard]] observed run_tasks_of(const experiment_scenario&, const selection& run,
                                    std::uint32_t seed, const std::optional<watching>& = {});

/// All that must be run for the cell.
[[nodiscard]] std::vector<selection> task_runs_behind(const cell&);

/// One number a seed: the mean over the draws.
[[nodiscard]] std::vector<double> task_values(const experiment_scenario&, const cell&,
                                              const task_runs&);

}  // namespace kilter::lab
