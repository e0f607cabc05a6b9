#pragma once
// Runs of a [[native]] scenario on this machine: what native cases look at.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "claims/experiment_file.hpp"
#include "claims/observed.hpp"
#include "session/progress.hpp"
#include "trace/event.hpp"

namespace kilter::lab {

/// by run, one for each repeat
using native_results = std::map<selection, std::vector<observed>>;

/// How many calls of progress::step `run_natively` makes.
[[nodiscard]] std::uint64_t native_steps(const experiment_scenario&,
                                         const std::set<selection>& runs);

/// The runs take turns within each repeat. A window in parts of a run is of the run without it in
/// the same repeat. Every result is verified: apps::wrong_result. input_error if this machine
/// cannot have the scenario. Fewer repeats if the process is interrupted.
[[nodiscard]] native_results run_natively(const experiment_scenario&,
                                          const std::set<selection>& runs, progress&);

/// For who reads the numbers later: the day, the machine and how many of its cores.
[[nodiscard]] std::string measured_here();

/// What a run's events say about tasks: one record for each execution, however many members it had.
/// A task of type `iterations` hands out an iteration and is no task itself; what begins after it
/// is of its iteration. Without such a type all are of the first. Times count from `zero_ns`, in
/// the events' clock.
[[nodiscard]] std::vector<task_record> records_of(std::span<const trace::event> events,
                                                  const machine&,
                                                  std::optional<std::uint16_t> iterations,
                                                  std::int64_t zero_ns);

}  // namespace kilter::lab
