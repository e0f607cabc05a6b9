#pragma once
// What the two programs of the command have in common: `kilter`, which starts programs at once, and
// `kilter-commands`.

#include <CLI/CLI.hpp>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.hpp"

namespace kilter::cli {

/// Declares the commands in `app`, or the one that is `named` alone ("compare", "lab balance"), and
/// says what each does. `program`: the words after "--".
using declaration = std::function<std::map<std::string, action>(
    CLI::App& app, std::string_view named, const std::string& command_line,
    const std::vector<std::string>& program)>;

/// Returns the exit status.
[[nodiscard]] int do_command(int argc, char** argv, const declaration&);

}  // namespace kilter::cli
