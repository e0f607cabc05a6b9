#pragma once
// Other readings of what the papers leave open, and what becomes of verdicts under them.
// lab/experiments/readings.toml names them.

#include <string>
#include <string_view>
#include <vector>

#include "claims/experiment_file.hpp"

namespace kilter::lab {

/// One choice, taken the other way.
struct other_reading {
  std::string set;  ///< KEY=VALUE, as read_differently takes it
  /// whose claims it may change, as S0; or single claims, as S0-17
  std::vector<std::string> papers;
  std::string source, about;
};

/// What `--as coded` means for some experiments beyond the settings of their policies.
struct coded_experiment {
  std::vector<std::string> experiments;
  std::string set;  ///< as above
  std::string source, about;
};

/// What the verdicts of papers were before anything was changed in their experiment files.
struct first_tally {
  std::vector<std::string> papers;
  /// where it was written down; "7 reproduced, 5 direction, ..."
  std::string commit, said;
};

struct known_readings {
  std::vector<first_tally> first;
  std::vector<other_reading> one_by_one;
  std::vector<coded_experiment> coded;
};

inline constexpr std::string_view readings_name = "readings.toml";

/// readings.toml in the directory of the experiment files; none if it is not there. input_error as
/// for an experiment.
[[nodiscard]] known_readings read_readings(const std::string& directory);

/// Another reading of what the papers leave open: `KEY=VALUE[,KEY=VALUE...]` for every scenario
/// that knows the key, whatever its file says; a scenario that runs over several values of a key
/// keeps them. input_error if there is no such key or value.
void read_differently(std::vector<experiment_file>&, const std::string& reading);

/// All files as a paper, its public code or Kilter has it; scenarios of tasks by their policies.
/// Policies without public code keep what their file says.
void read_as(std::vector<experiment_file>&, std::string_view reading, const known_readings&);

/// Of the papers all of whose claims are among `ids`.
[[nodiscard]] std::vector<first_tally> first_tallies(const known_readings&,
                                                     const std::vector<experiment_file>&,
                                                     const std::vector<std::string>& ids);

}  // namespace kilter::lab
