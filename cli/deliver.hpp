#pragma once
// What becomes of a measurement: table, JSON, report, trace.

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <vector>

#include "measuring/duration.hpp"
#include "measuring/experiment.hpp"
#include "presenting/document.hpp"

namespace kilter::cli {

struct outputs {
  lab::invocation how;  ///< with the paths
  bool quiet = false;
};

/// Declares --yes.
void add_yes(CLI::App& command, bool& yes);
/// Says how long it will take, if that is worth a line; input_error if it is too long to begin
/// without --yes. False after Ctrl-C.
[[nodiscard]] bool announce(const std::function<lab::duration()>& estimate, bool yes,
                            const outputs&);

/// Declares --json, --html, --trace and --quiet.
void add_outputs(CLI::App& command, outputs&);
/// The same without --trace.
void add_results(CLI::App& command, outputs&);
/// Throws input_error for a path that cannot be written.
void check_outputs(const outputs&);
/// Says how long it will take, compares under a guard against Ctrl-C and delivers what there is.
/// Returns the exit status.
[[nodiscard]] int compare_and_deliver(std::vector<lab::experiment>, bool yes, const outputs&);

/// Prints the text, or puts it on standard error if a document takes standard output, and writes
/// the JSON and the report that are asked for. `text` is told whether to use colour, and how many
/// columns there are. Then come the `others`, which write files of their own; that one of all these
/// is lost does not cost the rest.
using text_maker = std::function<std::string(bool colour, std::size_t columns)>;
void deliver(const outputs&, const text_maker& text, const lab::document&,
             const std::vector<std::function<void()>>& others = {});

/// Runs under a guard against Ctrl-C, then delivers. Returns the exit status.
[[nodiscard]] int run_and_deliver(const std::function<void()>& run,
                                  const std::function<void()>& deliver);

}  // namespace kilter::cli
