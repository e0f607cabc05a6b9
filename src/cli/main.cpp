// `kilter`: which command, and what a failure becomes. Exit status: 0 done, 1 the work went wrong, 2 bad usage or input, 130 Ctrl-C; `balance` and `sym` have that of
// the program that it runs, and 125 for failures of its own.

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/printable.hpp"
#include "cli/commands.hpp"
#include "kilter/error.hpp"
#include "lab/environment.hpp"
#include "lab/join.hpp"
#include "lab/suggest.hpp"

namespace kilter::cli {

namespace {

constexpr int went_wrong = 1, bad_input = 2, own_failure = 125;

int refuse(std::string message, int status = bad_input) {
  for (char& c : message)
    if (c == '\n' || c == '\r') c = ' ';
  while (!message.empty() && message.back() == ' ') message.pop_back();
  fmt::print(stderr, "kilter: {}\n", printable(message));
  return status;
}

/// "kilter bench layered": what to ask for help.
std::string path_of(CLI::App& app) {
  std::string path = "kilter";
  for (CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    path += " " + at->get_name();
  }
  return path;
}

/// The innermost command that was named.
CLI::App& chosen(CLI::App& app) {
  CLI::App* at = &app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  return *at;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* o : app.get_options())
    for (const std::string& n : o->get_lnames()) names.push_back("--" + n);
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* s : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!s->get_name().empty()) names.push_back(s->get_name());  // an option group has none
  return names;
}

/// One line for an argument that nothing took.
std::string unexpected(CLI::App& app) {
  CLI::App& command = chosen(app);
  const auto left = app.remaining(true);
  const std::string word = left.front().substr(0, left.front().find('='));
  const bool option = word.starts_with('-');
  const std::vector<std::string> names = option ? option_names(command) : command_names(command);
  const std::vector<std::string_view> choices(names.begin(), names.end());
  if (choices.empty()) return fmt::format("unexpected argument '{}'; see {} --help", word, path_of(app));
  return lab::unknown_name(option ? "option" : "argument", word, choices);
}

bool takes_program(std::string_view command) { return command == "balance" || command == "sym"; }

/// The words after "--", which belong to the program that `kilter balance` or `kilter sym` runs, whatever they look like. They are taken off.
std::vector<std::string> take_program(int& argc, char** argv) {
  for (int i = 2; i < argc && takes_program(argv[1]); ++i)
    if (std::string_view(argv[i]) == "--") {
      std::vector<std::string> words(argv + i + 1, argv + argc);
      argc = i;
      return words;
    }
  return {};
}

int run(int argc, char** argv) {
  CLI::App app{"Kilter learns what each core is worth, and places tasks accordingly.", "kilter"};
  app.set_version_flag("--version", "kilter " + lab::version_text());
  app.require_subcommand(1);
  app.option_defaults()->always_capture_default();
  app.get_formatter()->column_width(34);
  app.footer("Examples:\n"
             "  kilter demo\n"
             "  kilter topo\n"
             "  kilter bench layered --policy rws,dam-c --disturb cpu@0\n"
             "kilter COMMAND --help says more.");

  const std::string command_line = fmt::format("{}", lab::joined(std::span(argv, static_cast<std::size_t>(argc)).subspan(1), " "));
  const std::vector<std::string> program = take_program(argc, argv);
  const bool as_env = argc > 1 && takes_program(argv[1]);  // whose status is the program's, and its own failures above that
  const auto bad = [&](std::string message) { return refuse(std::move(message), as_env ? own_failure : bad_input); };
  const std::map<std::string, action> actions{{"demo", add_demo(app, command_line)}, {"bench", add_bench(app, command_line)},
                                              {"sim", add_sim(app, command_line)}, {"compare", add_compare(app, command_line)}, {"reproduce", add_reproduce(app, command_line)},
                                              {"explain", add_explain(app)},
                                              {"topo", add_topo(app)}, {"disturb", add_disturb(app)}, {"policies", add_policies(app)},
                                              {"platforms", add_platforms(app)}, {"graph", add_graph(app)}, {"calibrate", add_calibrate(app)},
                                              {"balance", add_balance(app, program)}, {"top", add_top(app)},
                                              {"sym", add_sym(app, program)}};
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    return app.exit(e);
  } catch (const CLI::ExtrasError&) {
    return bad(unexpected(app));
  } catch (const CLI::RequiredError& e) {
    if (!app.remaining(true).empty()) return bad(unexpected(app));
    const auto names = command_names(chosen(app));
    const std::string missing = names.empty() ? e.what() : fmt::format("a command is missing, one of {}", lab::joined(names, ", "));
    return bad(fmt::format("{}; see {} --help", missing, path_of(app)));
  } catch (const CLI::ParseError& e) {
    return bad(fmt::format("{}; see {} --help", e.what(), path_of(app)));
  }
  try {
    return actions.at(app.get_subcommands().front()->get_name())();
  } catch (const input_error& e) {
    return bad(e.what());
  } catch (const std::exception& e) {
    return refuse(e.what(), as_env ? own_failure : went_wrong);
  }
}

}  // namespace

}  // namespace kilter::cli

int main(int argc, char** argv) { return kilter::cli::run(argc, argv); }
