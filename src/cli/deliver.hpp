#pragma once
// What becomes of a measurement: table, JSON, report, trace.

#include <CLI/CLI.hpp>

#include <string>

#include "lab/json.hpp"
#include "lab/measurement.hpp"

namespace kilter::cli {

struct outputs {
  lab::invocation how;   ///< with the paths
  bool quiet = false;
};

/// Declares --json, --html, --trace and --quiet.
void add_outputs(CLI::App& command, outputs&);
/// Throws input_error for a path that cannot be written.
void check_outputs(const outputs&);
/// Measures under a guard against Ctrl-C and delivers what there is. Returns the exit status.
[[nodiscard]] int measure_and_deliver(lab::experiment, const outputs&);

}  // namespace kilter::cli
