#pragma once
// What claims about threads look at: which runs are behind a number, and the number.

#include <functional>
#include <vector>

#include "claims/experiment_file.hpp"
#include "threads/thread_run.hpp"

namespace kilter::lab {

/// Runs of all seeds of one program under one policy.
using thread_runs = std::function<const std::vector<thread_run>&(const selection& run)>;

/// One run of the scenario as `run` selects it. input_error if the scheduler or the machine refuses
/// it.
[[nodiscard]] thread_run run_threads_of(const experiment_scenario&, const selection& run,
                                        std::uint64_t seed);

/// All that must be run for the cell: each member if its program stands for several, and every
/// quantum and swap size if it asks for the best or the worst of them.
[[nodiscard]] std::vector<selection> thread_runs_behind(const experiment_scenario&, const cell&);

/// One number a seed: the mean over the members of the program and over the draws.
[[nodiscard]] std::vector<double> thread_values(const experiment_scenario&, const cell&,
                                                const thread_runs&);

}  // namespace kilter::lab
