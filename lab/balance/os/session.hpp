#pragma once
// `kilter lab balance`: every quantum the threads are observed, the scheduler is asked, and what it
// answers is carried out.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "balance/catalogue.hpp"
#include "balance/os/perf_calls.hpp"
#include "balance/os/targets.hpp"

namespace kilter::balance::os {

/// What decides if nobody says: dike if it can know what it goes by (counters, or which cores have
/// the bandwidth), else spread.
inline constexpr std::string_view automatic = "auto";

struct session_options {
  std::string policy{automatic};
  scheduler_options tuning;
  std::string observer = "auto";     ///< auto, pmu, resctrl, software, times, replay:FILE
  std::vector<std::string> program;  ///< words of a program to run; or
  target_spec targets;               ///< whom to attach to
  bool dry_run = false;              ///< no mask is touched
  std::string record;                ///< file for observations; empty: none
  /// Who counts for the observer `pmu`. Tests have a simulated computer here.
  counter_source counters = kernel_counters;
  /// Gets lines for the user: `important` ones also when he asked for quiet.
  std::function<void(const std::string& line, bool important)> tell;
};

struct program_row {
  pid_t pid = 0;
  std::string name;
  std::uint32_t threads = 0;
  double seconds = 0.0;  ///< watched
};

struct move_row {
  double at_s = 0.0;  ///< since the begin
  thread_id thread = 0;
  core_id from = no_core, to = no_core;
  reason why = reason::swap;
};

struct session_result {
  std::string policy, observer;
  bool class_only = true;     ///< the observer saw no misses: nothing was predicted
  bool classes_seen = false;  ///< of some thread in some quantum
  /// which cores have the bandwidth: given, or they are of several kinds
  bool sides_known = false;
  std::uint64_t quanta = 0, swaps = 0, rejected = 0;
  std::uint64_t moves = 0;  ///< carried out; with dry_run, decided
  /// decided and not carried out: outside of the thread's mask, not ours, or gone
  std::uint64_t refused = 0;
  /// Eq. 4 of S4 over programs with at least two threads that worked and ended; resolution: a look
  std::optional<double> fairness;
  /// mean of (predicted - actual) / actual over threads and quanta
  std::optional<double> prediction_error;
  std::vector<program_row> programs;
  std::vector<move_row> log;  ///< the first `log_limit` moves
  std::uint32_t threads = 0, most_at_once = 0;
  /// of the run; CPU time of Kilter itself in user and kernel mode
  double seconds = 0.0, own_cpu_s = 0.0;
  std::vector<std::string> remarks;
  std::uint32_t masks_restored = 0;
  /// How it ended: a wait status of the program, or the signal that ended the watching; none: all
  /// targets ended.
  std::optional<int> program_status;
  int stopped_by = 0;
  /// Why the observations were not recorded, with the file's name; empty: they were, or nobody
  /// asked.
  std::string record_lost;
  /// Why the program could not be started: an errno.
  int exec_error = 0;
};

inline constexpr std::size_t log_limit = 10000;

/// Runs or attaches until the program or all targets have ended, or a signal ends the watching. All
/// masks are back when it returns or throws. Throws input_error for what cannot be: a name, a
/// process, a file; cannot_balance if the system refuses what is needed; std::bad_alloc. If a
/// program was to be run, it was not started then; once it is started nothing is thrown, and it is
/// waited for whatever fails.
[[nodiscard]] session_result run_session(const machine&, const session_options&);

/// The machine that was recorded: `here`, if it has as many cores, else one of equal cores.
/// input_error if the file cannot be read.
[[nodiscard]] machine machine_of_recording(const machine& here, const std::string& file);

/// Asks the scheduler about observations recorded on that machine; nothing runs and nothing is
/// moved.
[[nodiscard]] session_result replay_only(const machine& recorded, const session_options&,
                                         const std::string& file);

/// The file of `replay:FILE`, nullopt for other observers.
[[nodiscard]] std::optional<std::string> replay_file(const std::string& observer);

}  // namespace kilter::balance::os
