#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <memory>
#include <set>
#include <string>

#include "balance/os/board.hpp"
#include "balance/os/report.hpp"
#include "cli/commands.hpp"
#include "lab/session/interrupt.hpp"
#include "lab/session/outputs.hpp"

namespace kilter::cli {

namespace {

namespace os = balance::os;

struct top_options {
  std::string json;
  bool once = false;
  double every_s = 1.0;
};

struct screen {
  std::size_t columns = 120, rows = 0;
};

screen size_of_screen() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return {};
  return {size.ws_col, size.ws_row > 1 ? size.ws_row - 1U : 0U};
}

int top(const top_options& o) {
  lab::check_output("--json", o.json);
  const bool live = ::isatty(STDOUT_FILENO) == 1 && !o.once && o.json.empty();
  const lab::interrupt_guard guard([] { ::_exit(stopped); });
  std::set<std::string> said;
  do {
    const auto [boards, passed_over] = os::read_boards();
    for (const std::string& line : passed_over)
      if (said.insert(line).second) lab::tell(fmt::format("kilter top: {}\n", line));
    if (!o.json.empty()) lab::write_output(o.json, os::boards_json(boards));
    if (o.json != "-") {
      const screen s = live ? size_of_screen() : screen{};
      lab::write_output("-", (live ? "\x1b[H\x1b[2J" : "") + os::top_text(boards, s.columns, s.rows));
    }
    if (live) lab::interruptible_sleep(o.every_s);
  } while (live && !lab::interrupted());
  return lab::interrupted() ? stopped : 0;
}

}  // namespace

action add_top(CLI::App& app) {
  auto o = std::make_shared<top_options>();
  CLI::App* command = app.add_subcommand("top", "What running kilter balance do: threads, cores, classes, rates, last moves and why, expected and actual");
  command->add_flag("--once", o->once, "Print the table once; also if standard output is no terminal");
  command->add_option("--every", o->every_s, "Seconds between two tables")->type_name("S")->check(CLI::Range(0.1, 3600.0));
  command->add_option("--json", o->json, "Write JSON once to this file; -: to standard output, instead of the table")->type_name("FILE");
  command->footer("Examples:\n"
                  "  kilter top\n"
                  "  kilter top --once --json -");
  return [o] { return top(*o); };
}

}  // namespace kilter::cli
