#pragma once
// One function a command: it declares the options and returns what to do with them. Nothing here
// computes.

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <vector>

namespace kilter::cli {

// Exit statuses.
constexpr int went_wrong = 1, bad_input = 2;
constexpr int stopped = 130;  ///< after Ctrl-C

/// Does the command and returns the exit status. Throws input_error for what must be refused.
using action = std::function<int()>;

[[nodiscard]] action add_topo(CLI::App& app);
/// `command_line` is kept in the documents.
[[nodiscard]] action add_reproduce(CLI::App& app, const std::string& command_line);
/// Commands of `kilter lab reproduce`.
[[nodiscard]] action add_matrix(CLI::App& reproduce, const std::string& command_line);
[[nodiscard]] action add_topcuoglu(CLI::App& reproduce, const std::string& command_line);
[[nodiscard]] action add_compare(CLI::App& app, const std::string& command_line);
[[nodiscard]] action add_app(CLI::App& root, const std::string& command_line);
[[nodiscard]] action add_explain(CLI::App& app);
[[nodiscard]] action add_demo(CLI::App& app, const std::string& command_line);
[[nodiscard]] action add_policies(CLI::App& app);
[[nodiscard]] action add_calibrate(CLI::App& app);
[[nodiscard]] action add_platforms(CLI::App& app);
[[nodiscard]] action add_graph(CLI::App& app);
/// `program`: the words after "--".
[[nodiscard]] action add_run(CLI::App& app, const std::vector<std::string>& program);
/// `program` as above.
[[nodiscard]] action add_balance(CLI::App& app, const std::vector<std::string>& program);
/// `program` as above; empty where there is none.
[[nodiscard]] action add_disturb(CLI::App& app, const std::vector<std::string>& program);
[[nodiscard]] action add_top(CLI::App& app);
/// `program` as above.
[[nodiscard]] action add_sym(CLI::App& app, const std::vector<std::string>& program);
/// Both tell of all other commands of `app`, which must live as long as the action.
[[nodiscard]] action add_help(CLI::App& app);
[[nodiscard]] action add_completion(CLI::App& app);

}  // namespace kilter::cli
