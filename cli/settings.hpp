#pragma once
// A specification on a command line: options made from the table of its settings
// (lab/measuring/specification.hpp).

#include <CLI/CLI.hpp>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "measuring/specification.hpp"

namespace kilter::cli {

/// What the user wrote. Flags are in `rest` at once.
struct worded_specification {
  std::vector<std::string> policies{"auto"}, disturb;
  lab::parameter_values texts;  ///< by name of the setting
  lab::specification rest;
  /// one of lab::readings, which settings follow that were not written; empty: none
  std::string as;
  /// by name of the setting
  std::vector<std::pair<std::string_view, const CLI::Option*>> options;

  /// input_error for what cannot be. Leaves the workload as it is in `rest`.
  [[nodiscard]] lab::specification read() const;
};

/// An option for each of the settings, whose default is what `rest` has.
void add_settings(CLI::App&, worded_specification&, std::initializer_list<std::string_view> names);

/// What several commands ask the same way: policies, disturbances, repeats and seed; the machine;
/// learning.
void add_comparison(CLI::App&, worded_specification&);
void add_cores(CLI::App&, worded_specification&);
void add_simulated(CLI::App&, worded_specification&);
void add_learning(CLI::App&, worded_specification&);

}  // namespace kilter::cli
