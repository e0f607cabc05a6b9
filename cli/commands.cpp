// `kilter-commands`: all commands. `kilter` becomes it for all but `kilter run`.

#include <sys/prctl.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "cli/command_line.hpp"

namespace kilter::cli {

namespace {

constexpr std::string_view lab_prefix = "lab ";

CLI::App& add_lab(CLI::App& app) {
  CLI::App* lab = app.add_subcommand(
      "lab",
      "The laboratory: studies of schedulers, simulated machines, threads of other programs");
  lab->require_subcommand(1);
  lab->footer("kilter help lab COMMAND says more.");
  return *lab;
}

/// By name. To declare all of them takes longer than some of them do, so where one is named it is
/// the only one.
std::map<std::string, action> add_commands(CLI::App& app, std::string_view named,
                                           const std::string& command_line,
                                           const std::vector<std::string>& program) {
  CLI::App* lab = nullptr;  // stands where its first command does
  using adding = std::function<action(CLI::App&)>;
  const std::pair<std::string_view, adding> all[] = {
      {"run", [&](CLI::App& in) { return add_run(in, program); }},
      {"disturb", [&](CLI::App& in) { return add_disturb(in, program); }},
      {"topo", add_topo},
      {"top", add_top},
      {"compare", [&](CLI::App& in) { return add_compare(in, command_line); }},
      {"graph", add_graph},
      {"lab demo", [&](CLI::App& in) { return add_demo(in, command_line); }},
      {"lab reproduce", [&](CLI::App& in) { return add_reproduce(in, command_line); }},
      {"lab app", [&](CLI::App& in) { return add_app(in, command_line); }},
      {"lab explain", add_explain},
      {"lab policies", add_policies},
      {"lab platforms", add_platforms},
      {"lab calibrate", add_calibrate},
      {"lab balance", [&](CLI::App& in) { return add_balance(in, program); }},
      {"lab sym", [&](CLI::App& in) { return add_sym(in, program); }},
      {"help", [&](CLI::App&) { return add_help(app); }},
      {"completion", [&](CLI::App&) { return add_completion(app); }}};
  const bool tells_of_all = named == "help" || named == "completion";
  const bool known = !tells_of_all &&
                     std::ranges::any_of(all, [&](const auto& one) { return one.first == named; });
  std::map<std::string, action> actions;
  for (const auto& [name, add] : all) {
    if (known && name != named) continue;
    const bool studies = name.starts_with(lab_prefix);
    if (studies && !lab) lab = &add_lab(app);
    actions.emplace(name, add(studies ? *lab : app));
  }
  return actions;
}

}  // namespace

}  // namespace kilter::cli

int main(int argc, char** argv) {
  prctl(PR_SET_NAME, "kilter");  // in lists of processes
  return kilter::cli::do_command(argc, argv, kilter::cli::add_commands);
}
