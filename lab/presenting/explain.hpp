#pragma once
// Why a recorded run used some places and not others, found again from its result alone (schema
// "kilter.compare/2"): which cores the table said were slowed, when, who still ran there, and which
// places were tried and left.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "presenting/document.hpp"

namespace kilter::lab {

/// From this learned slowdown on a core counts as under interference.
inline constexpr double slowed_from = 1.1;

/// Fewer tasks than this on a core's part, by its speed, and their share says nothing.
inline constexpr double fewest_expected = 3.0;

/// One task of a traced run that a finding rests on. Times in seconds since the run began.
struct cited_task {
  std::uint64_t task = 0;
  std::string type;
  std::uint32_t leader = 0, width = 1;
  double start_s = 0.0, seconds = 0.0;
  /// of such a task on that core without interference; 0: not known, or tasks of the type differ
  /// too much
  double usual_s = 0.0;
};

/// How many of the tasks that began in a period ran on places with a core.
struct share_there {
  std::uint64_t there = 0, all = 0;
  double equal = 0.0;  ///< the share if all cores got the same, given the widths
  /// of the same policy without disturbance, if the result has that and at least 20 tasks of it
  std::optional<double> undisturbed;
  std::optional<double> last_s;  ///< when the last of them there began
  /// what the undisturbed share, or the equal one, becomes if only speed decides
  double expected = 0.0;
  [[nodiscard]] double share() const noexcept {
    return all > 0 ? static_cast<double>(there) / static_cast<double>(all) : 0.0;
  }
};

enum class treatment : std::uint8_t {
  avoided,  ///< at most half of what its speed alone would give it, of critical and of all tasks
  helped,   ///< so for critical tasks only
  as_always,
  /// it had hardly any critical tasks without disturbance either, or too few tasks ran to tell
  unused,
};

/// A time in which a core was learned to be slowed.
struct slow_period {
  std::uint32_t core = 0;
  double from_s = 0.0;
  std::optional<double> to_s;  ///< none: to the end of the run
  double most = 1.0;           ///< largest learned slowdown
  treatment how = treatment::as_always;
  share_there critical, tasks;
  std::vector<cited_task> samples;  ///< in order of time
  /// the first task afterwards that took no longer than usual
  std::optional<cited_task> back;
};

/// A place that a type hardly used.
struct seldom_place {
  std::string type;
  std::uint32_t leader = 0, width = 1;
  std::vector<cited_task> tries;  ///< at most two, the first ones
  std::uint64_t tasks = 0;
  double last_s = 0.0;   ///< when the last of them began
  double seconds = 0.0;  ///< learned last; 0: nothing
  std::uint32_t best_leader = 0, best_width = 1;
  double best_seconds = 0.0;  ///< learned last at the cheapest place that is used
};

/// What is learned of tasks that are many units of work is per unit.
struct work_of_type {
  std::string type;
  double units = 1.0;  ///< what a typical task took, in times as learned
};

/// Places of the machine on which no kept task of a type ran.
struct never_used {
  std::string type;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> places;  ///< (leader, width)
};

struct explained_run {
  std::string policy, disturb;
  double seconds = 0.0;
  std::uint64_t tasks = 0, kept = 0;  ///< in the run, and in the result
  std::size_t windows = 1;            ///< stretches of time that the result has of it
  bool learned = true;                ///< the table has values
  std::vector<slow_period> periods;   ///< by time
  std::uint64_t brief_periods = 0;    ///< further ones, shorter than those listed
  std::vector<seldom_place> seldom;   ///< by type, then by time of the last try
  std::vector<never_used> never;
  std::vector<work_of_type> per_unit;  ///< types whose learned times are not those of a task
};

/// Which traced runs; empty: all.
struct explain_choice {
  std::vector<std::string> policies, disturbs;
};

/// Reads a result of `kilter compare`. Throws input_error naming `path` and what
/// would be right if it is no JSON or has another schema.
[[nodiscard]] document read_result(const std::string& path);

/// Throws input_error if there are no traced runs, if a name of `which` is in none of them, or if
/// the document lacks what its schema promises.
[[nodiscard]] std::vector<explained_run> explain(const document& result,
                                                 const explain_choice& which);

/// Schema "kilter.explain/1".
[[nodiscard]] document explain_document(const std::vector<explained_run>&);
[[nodiscard]] std::string explain_text(const std::vector<explained_run>&);

}  // namespace kilter::lab
