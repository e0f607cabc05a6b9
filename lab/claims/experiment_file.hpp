#pragma once
// Files in lab/experiments/: what is run for a published experiment, and what must come out.
// lab/experiments/README.md tells how to write one. A file is read whole and checked, so that what
// it says can be run and decided.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "claims/claim.hpp"
#include "claims/figure.hpp"
#include "claims/measures.hpp"
#include "measuring/engine_choice.hpp"

namespace kilter::lab {

inline constexpr std::string_view threads_workload = "threads", models_workload = "models";

struct experiment_scenario {
  std::string name, workload;  ///< natively: name of a program
  engine_choice on;            ///< simulated, or this machine
  /// policy always, of tasks disturb too; it is run with every combination of their values
  std::vector<axis> axes;
  selection parameters;           ///< the rest of the words of the command line
  std::vector<std::string> open;  ///< what the paper leaves open, with our resolution and why
  /// numbers that a case or value is judged by; natively: repeats
  std::uint32_t seeds = 10;
  /// runs behind each of them, their mean; run seeds 1 .. seeds x draws
  std::uint32_t draws = 1;

  [[nodiscard]] run_kind runs() const noexcept {
    return workload == threads_workload  ? run_kind::threads
           : workload == models_workload ? run_kind::models
                                         : run_kind::tasks;
  }
  [[nodiscard]] bool natively() const noexcept { return on.platform.empty(); }
  /// Null if it has no such axis.
  [[nodiscard]] const axis* find_axis(std::string_view axis_name) const noexcept;
};

/// Its name, what it runs and its parameters, in a line: what must be the same for two measurements
/// of one case to be of the same thing.
[[nodiscard]] std::string words_of(const experiment_scenario&);

struct experiment_file {
  std::string path, name, title, source;
  std::vector<experiment_scenario> scenarios, natives;
  std::vector<claim> claims;
  std::vector<figure> figures;  ///< after the papers' own, drawn for `kilter lab reproduce --html`
};

/// words_of what the claim's native cases look at, each once.
[[nodiscard]] std::vector<std::string> native_scenarios_behind(const experiment_file&,
                                                               const claim&);

/// Throws input_error with one line, `FILE:LINE: what is wrong and what would be right`.
[[nodiscard]] experiment_file parse_experiment(const std::string& text, const std::string& path);
[[nodiscard]] experiment_file read_experiment(const std::string& path);

/// Gives the scenario another value for a key of its own that has one value; false if it has no
/// such key. input_error if the value cannot be.
bool set_word(experiment_scenario&, const std::string& key, const std::string& value);
/// The keys that set_word takes, of all kinds of scenarios.
[[nodiscard]] std::vector<std::string_view> words_of_readings();

/// All `*.toml` of the directory but readings.toml, in order of their names. Throws too if a claim
/// or figure stands in two of them.
[[nodiscard]] std::vector<experiment_file> read_experiments(const std::string& directory);

/// Where the experiment files are: $KILTER_EXPERIMENTS, else those that came with Kilter.
/// input_error if there are none.
[[nodiscard]] std::string experiments_directory();

/// The claims that `wanted` names: "all", a paper ("S0") or ids ("S0-11"). Throws input_error
/// naming one that there is not.
[[nodiscard]] std::vector<std::string> chosen_claims(const std::vector<experiment_file>&,
                                                     const std::vector<std::string>& wanted);

}  // namespace kilter::lab
