#pragma once
// What was once spelled otherwise: the old words are still known, in no help and no completion, so
// that whoever uses them is told the new ones.

#include <CLI/CLI.hpp>

#include <utility>

#include "cli/commands.hpp"

namespace kilter::cli {

/// `--platform NAME`, which is `--on sim:NAME`. Parsing throws input_error.
void add_old_platform(CLI::App&);

/// `graph --file GRAPH` below bench and sim, which is the graph itself as their first word. The
/// action throws input_error.
[[nodiscard]] std::pair<CLI::App*, action> add_old_graph(CLI::App& above);

}  // namespace kilter::cli
