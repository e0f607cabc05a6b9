// What a failure becomes. Exit status: 0 done, 1 the work went wrong, 2 bad usage or input, 130
// Ctrl-C; `run`, `lab balance` and `lab sym` have that of the program that they run, and 125 for
// failures of its own.

#include "cli/command_line.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <new>
#include <optional>
#include <span>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/printable.hpp"
#include "child/program.hpp"
#include "cli/command_tree.hpp"
#include "kilter/error.hpp"
#include "session/outputs.hpp"
#include "session/terminal.hpp"
#include "session/version.hpp"
#include "words/join.hpp"
#include "words/suggest.hpp"

namespace kilter::cli {

namespace {

int refuse(std::string message, int status = bad_input) {
  for (char& c : message)
    if (c == '\n' || c == '\r') c = ' ';
  while (!message.empty() && message.back() == ' ') message.pop_back();
  lab::tell(fmt::format("kilter: {}\n", printable(message)));
  return status;
}

/// What the system does not say of its own refusals.
std::string what_was_wanted(const std::exception& e, const std::string& command_line) {
  if (dynamic_cast<const std::bad_alloc*>(&e))
    return fmt::format(
        ": there is not enough memory for 'kilter {}'; ask for fewer or smaller tasks, graphs or "
        "repeats",
        command_line);
  const auto* const refused = dynamic_cast<const std::system_error*>(&e);
  if (refused && refused->code() == std::errc::resource_unavailable_try_again)
    return fmt::format(
        ": no thread can be started for 'kilter {}'; raise the limit (ulimit -u, pids.max of the "
        "cgroup, memory) or ask for fewer cores",
        command_line);
  return "";
}

/// The innermost command that was named.
CLI::App& chosen(CLI::App& app) {
  CLI::App* at = &app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  return *at;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* o : accepted_by(app))
    for (const std::string& n : o->get_lnames()) names.push_back("--" + n);
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* s : commands_of(app)) names.push_back(s->get_name());
  return names;
}

/// "compare", "lab balance".
std::string name_below_kilter(const CLI::App& command) {
  const std::string name = full_name(command);
  return command.get_parent() ? name.substr(name.find(' ') + 1) : "";
}

/// The words that name the command, as far as they can be known before they are parsed.
std::string named_in(int argc, char** argv) {
  if (argc < 2) return "";
  const std::string first = argv[1];
  return first == "lab" && argc > 2 ? first + " " + argv[2] : first;
}

/// Whose status is the program's, and its own failures above that, as of env(1).
bool is_prefix(std::string_view command) {
  return command == "run" || command == "lab balance" || command == "lab sym";
}

/// What a command is called that had another name in version 0.1; empty if it had none.
std::string new_spelling(std::string_view command) {
  if (command == "bench" || command == "sim") return "compare";
  for (const std::string_view moved : {"app", "balance", "calibrate", "demo", "explain",
                                       "platforms", "policies", "reproduce", "sym"})
    if (command == moved) return "lab " + std::string(moved);
  return "";
}

bool takes_program(std::string_view command) { return is_prefix(command) || command == "disturb"; }

/// One line for an argument that nothing took.
std::string unexpected(CLI::App& app) {
  CLI::App& command = chosen(app);
  const auto left = app.remaining(true);
  const bool option = left.front().starts_with('-');
  const std::string word = option ? left.front().substr(0, left.front().find('=')) : left.front();
  if (const std::string now = option || command.get_parent() ? "" : new_spelling(word);
      !now.empty())
    return fmt::format("kilter {0} is now kilter {1}; see kilter {1} --help", word, now);
  if (!option && takes_program(name_below_kilter(command)))
    return fmt::format("unexpected argument '{}'; a program comes after --, as in -- {}", word,
                       word);
  const std::vector<std::string> names = option ? option_names(command) : command_names(command);
  const std::vector<std::string_view> choices(names.begin(), names.end());
  const bool too_many =
      !option && std::ranges::any_of(options_of(command), &CLI::Option::get_positional);
  if (choices.empty() || too_many)
    return fmt::format("unexpected argument '{}'; see {} --help", word, full_name(chosen(app)));
  return lab::unknown_name(option ? "option" : "argument", word, choices);
}

/// The words after "--", which belong to the program that the command runs, whatever they look
/// like. They are taken off. nullopt: there is no "--".
std::optional<std::vector<std::string>> take_program(int& argc, char** argv) {
  if (!takes_program(named_in(argc, argv))) return std::nullopt;
  for (int i = 2; i < argc; ++i)
    if (std::string_view(argv[i]) == "--") {
      std::vector<std::string> words(argv + i + 1, argv + argc);
      argc = i;
      return words;
    }
  return std::nullopt;
}

int parse_and_do(int argc, char** argv, const declaration& declare) {
  CLI::App app{"Kilter learns what each core is worth, and places tasks accordingly.", "kilter"};
  app.set_version_flag("-V,--version", "kilter " + lab::version_text());
  app.require_subcommand(1);
  app.option_defaults()->always_capture_default();
  app.get_formatter()->column_width(34);
  app.footer(
      "Exit status: 0 done, 1 something went wrong, 2 bad usage or input, 130 Ctrl-C; kilter run, "
      "lab balance and lab sym have their program's.\n"
      "Examples:\n"
      "  kilter lab demo\n"
      "  kilter topo\n"
      "  kilter compare layered --policy rws,dam-c --disturb cpu@0\n"
      "kilter help COMMAND says more.");

  const std::string command_line = fmt::format(
      "{}", lab::joined(std::span(argv, static_cast<std::size_t>(argc)).subspan(1), " "));
  const auto after_dashes = take_program(argc, argv);
  const std::vector<std::string> program = after_dashes.value_or(std::vector<std::string>{});
  const std::string named = named_in(argc, argv);
  const bool as_env = is_prefix(named);
  const auto bad = [&](std::string message) {
    return refuse(std::move(message), as_env ? prefix::own_failure : bad_input);
  };
  const std::map<std::string, action> actions = declare(app, named, command_line, program);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    std::ostringstream text;
    const int status = app.exit(e, text, text);
    try {
      lab::show(text.str());
    } catch (const lab::reader_gone&) {
      return as_env ? prefix::own_failure : went_wrong;
    } catch (const std::exception& lost) {
      return refuse(lost.what(), as_env ? prefix::own_failure : went_wrong);
    }
    return status;
  } catch (const CLI::ExtrasError&) {
    return bad(unexpected(app));
  } catch (const CLI::RequiredError& e) {
    if (!app.remaining(true).empty()) return bad(unexpected(app));
    const auto names = command_names(chosen(app));
    const std::string missing =
        names.empty() ? e.what()
                      : fmt::format("a command is missing, one of {}", lab::joined(names, ", "));
    return bad(fmt::format("{}; see {} --help", missing, full_name(chosen(app))));
  } catch (const input_error& e) {
    return bad(e.what());
  } catch (const CLI::ArgumentMismatch& e) {
    const std::string_view why = e.what();  // "--json: 1 required FILE missing"
    const std::string said = why.ends_with("missing")
                                 ? fmt::format("{} needs a value", why.substr(0, why.find(':')))
                                 : std::string(why);
    return bad(fmt::format("{}; see {} --help", said, full_name(chosen(app))));
  } catch (const CLI::ParseError& e) {
    return bad(fmt::format("{}; see {} --help", e.what(), full_name(chosen(app))));
  }
  // a script's empty variable; the others say it themselves
  if (after_dashes && after_dashes->empty() && !as_env)
    return bad("nothing to run after --: give PROGRAM ARGS...");
  try {
    const CLI::App* at = app.get_subcommands().front();
    if (at->get_name() == "lab") at = at->get_subcommands().front();
    return actions.at(name_below_kilter(*at))();
  } catch (const input_error& e) {
    return bad(e.what());
  } catch (const lab::reader_gone&) {
    return as_env ? prefix::own_failure : went_wrong;
  } catch (const std::exception& e) {
    return refuse(fmt::format("{}{}", e.what(), what_was_wanted(e, command_line)),
                  as_env ? prefix::own_failure : went_wrong);
  }
}

extern "C" void kilter_on_broken_pipe(int) {}

/// A reader of ours that has gone must not be our end: other outputs are still written. The signal
/// is caught, not ignored: programs that we start get the default back.
void survive_broken_pipes() {
  struct sigaction now {
  }, caught{};
  caught.sa_handler = kilter_on_broken_pipe;
  caught.sa_flags = SA_RESTART;
  if (::sigaction(SIGPIPE, nullptr, &now) == 0 && now.sa_handler != SIG_IGN)
    ::sigaction(SIGPIPE, &caught, nullptr);
}

/// Where a standard descriptor is closed, the next file that is opened would take its number, and
/// what is meant for a terminal would go into it. What stands in can be neither written nor, where
/// it is the input, read, so that what is lost is noticed, and is closed again in programs that we
/// start.
void fill_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) < 0)
      (void)::open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

}  // namespace

int do_command(int argc, char** argv, const declaration& declare) {
  survive_broken_pipes();
  fill_standard_descriptors();
  try {
    return parse_and_do(argc, argv, declare);
  } catch (const std::exception&) {  // of words that could not be put together
    lab::tell("kilter: there is not enough memory to say what went wrong\n");
    return went_wrong;
  }
}

}  // namespace kilter::cli
