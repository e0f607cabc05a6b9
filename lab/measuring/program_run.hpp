#pragma once
// A program of lab/apps/programs, run by several execution models under the same scenarios.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/programs/program.hpp"
#include "measuring/experiment.hpp"
#include "session/progress.hpp"

namespace kilter::lab {

/// "kilter,loop-static" or "all". input_error that names what there is.
[[nodiscard]] std::vector<apps::execution_model> read_models(const std::vector<std::string>& lists);

/// The models share machine, scenarios, repeats and seed; `kilter` is run under each of the
/// policies. Where several ranks run a program together, each measures it by the same plan but for
/// the machine of its runtime, and only one has scenarios with parts.
struct program_plan : experiment {
  std::string name;  ///< of the program
  std::vector<apps::execution_model> models;
  std::uint32_t ranks = 1;  ///< that run it together
};

struct program_row {
  std::string model;  ///< "loop-static", "kilter dam-c"
  std::string disturb;
  std::uint32_t repeat = 0;
  apps::program_run run;
  std::uint64_t fingerprint = 0;  ///< of the result
  /// of this computer's processors; empty if no sensor tells
  std::optional<double> joules;
  std::optional<double> achieved_share, disturber_progress;
};

struct program_summary {
  std::string model, disturb;
  std::uint32_t runs = 0;
  double median_s = 0.0, least_s = 0.0, most_s = 0.0;
  std::uint64_t iterations = 0, tasks = 0;     ///< of one run
  std::optional<double> median_j, median_edp;  ///< joules, and joule seconds
  /// the first model's seconds over its own, median of the repeats
  std::optional<double> speed_to_first;
};

struct program_result {
  std::vector<program_row> runs;
  std::vector<program_summary> summary;
  std::uint64_t most_bytes = 0;  ///< of memory that this process had at any time
  std::string energy_source;     ///< sensors; empty: none
  std::vector<std::string> notes;
  bool complete = false;
  double tool_seconds = 0.0;
};

/// How often `progress::step` will be called.
[[nodiscard]] std::uint64_t steps_of(const program_plan&);

/// All models once a repeat, each scenario around each run. Each run is verified;
/// apps::wrong_result names the model. May be read while it runs.
class program_measurement {
 public:
  program_measurement(program_plan, apps::program&, progress&);
  ~program_measurement();
  /// Until all is measured, or the process is interrupted.
  void run();
  [[nodiscard]] program_result result() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace kilter::lab
