// `kilter-commands`: all commands. `kilter` becomes it for all but `kilter run`.

#include <sys/prctl.h>

#include <algorithm>
#include <utility>

#include "cli/command_line.hpp"

namespace kilter::cli {

namespace {

/// By name. To declare all of them takes longer than some of them do, so where one is named it is
/// the only one.
std::map<std::string, action> add_commands(CLI::App& app, std::string_view named,
                                           const std::string& command_line,
                                           const std::vector<std::string>& program) {
  const std::pair<std::string_view, std::function<action()>> all[] = {
      {"demo", [&] { return add_demo(app, command_line); }},
      {"bench", [&] { return add_bench(app, command_line); }},
      {"sim", [&] { return add_sim(app, command_line); }},
      {"compare", [&] { return add_compare(app, command_line); }},
      {"reproduce", [&] { return add_reproduce(app, command_line); }},
      {"app", [&] { return add_app(app, command_line); }},
      {"explain", [&] { return add_explain(app); }},
      {"topo", [&] { return add_topo(app); }},
      {"disturb", [&] { return add_disturb(app, program); }},
      {"policies", [&] { return add_policies(app); }},
      {"platforms", [&] { return add_platforms(app); }},
      {"graph", [&] { return add_graph(app); }},
      {"calibrate", [&] { return add_calibrate(app); }},
      {"run", [&] { return add_run(app, program); }},
      {"balance", [&] { return add_balance(app, program); }},
      {"top", [&] { return add_top(app); }},
      {"sym", [&] { return add_sym(app, program); }},
      {"help", [&] { return add_help(app); }},
      {"completion", [&] { return add_completion(app); }}};
  const bool tells_of_all = named == "help" || named == "completion";
  const bool known = !tells_of_all &&
                     std::ranges::any_of(all, [&](const auto& one) { return one.first == named; });
  std::map<std::string, action> actions;
  for (const auto& [name, add] : all)
    if (!known || name == named) actions.emplace(name, add());
  return actions;
}

}  // namespace

}  // namespace kilter::cli

int main(int argc, char** argv) {
  prctl(PR_SET_NAME, "kilter");  // in lists of processes
  return kilter::cli::do_command(argc, argv, kilter::cli::add_commands);
}
