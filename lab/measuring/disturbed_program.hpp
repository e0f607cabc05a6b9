#pragma once
// `kilter disturb SPEC -- PROGRAM`: how much slower a program is under a disturbance than under
// another one or none.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "child/program.hpp"
#include "kilter/machine.hpp"
#include "statistics/stats.hpp"

namespace kilter::lab {

/// The question.
struct disturbed_program {
  std::vector<std::string> program;       ///< its words
  std::string disturb, against = "none";  ///< scenarios (lab/disturbing/disturbance.hpp)
  std::uint32_t repeat = 5;               ///< runs under each
  std::optional<double> at_most{};        ///< ratio that still passes
};

struct timed_run {
  std::string disturb;
  std::uint32_t repeat = 0;  ///< from 1
  double seconds = 0.0;      ///< from its start to its end
  int status = 0;            ///< as waitpid has it
};

/// All runs under one scenario.
struct timed_side {
  std::string disturb;
  std::vector<double> seconds{};  ///< of the runs that ended well
  /// what was left of the disturbed cores' time, mean over loads and runs; of a quota none
  std::optional<double> achieved_share{};
  [[nodiscard]] spread times() const { return spread_of(seconds); }
};

struct disturbed_result {
  disturbed_program asked;
  std::vector<timed_run> runs;  ///< in the order in which they were made
  timed_side against, disturbed;
  /// the run that ended otherwise than with 0, after which none was made
  std::optional<timed_run> failed;
  int stopped_by = 0;  ///< the signal that ended it all; 0: none

  [[nodiscard]] bool complete() const { return !failed && stopped_by == 0; }
  /// Median under the disturbance against the other median; nullopt if not all runs were made.
  [[nodiscard]] std::optional<double> ratio() const;
  /// Complete, and not slower than was allowed.
  [[nodiscard]] bool passes() const;
};

/// Runs the program under both in turn, each disturbance begun before the program and ended after
/// it; which comes first changes from pair to pair. `signals` were held before any thread was made.
/// `told` hears of each run. Throws input_error for scenarios that cannot be made here, or a
/// program that cannot be run.
[[nodiscard]] disturbed_result run_disturbed(const machine&, const disturbed_program&,
                                             const prefix::held_signals& signals,
                                             const std::function<void(const timed_run&)>& told);

}  // namespace kilter::lab
