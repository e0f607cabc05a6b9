#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "balance/os/board.hpp"
#include "balance/os/report.hpp"
#include "base/printable.hpp"
#include "cli/commands.hpp"
#include "regions/os/running.hpp"
#include "regions/os/sharing_programs.hpp"
#include "regions/os/source_lines.hpp"
#include "session/interrupt.hpp"
#include "session/outputs.hpp"

namespace kilter::cli {

namespace {

namespace os = balance::os;

struct top_options {
  std::string json;
  bool once = false;
  double every_s = 1.0;
};

/// 0 rows: no limit.
struct screen {
  std::size_t columns = std::string::npos, rows = 0;
};

/// None if standard output is no terminal.
screen size_of_screen() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return {};
  return {size.ws_col, size.ws_row > 1 ? size.ws_row - 1U : 0U};
}

/// Characters of valid UTF-8, one column each.
std::string first_columns(const std::string& text, std::size_t columns) {
  std::size_t end = 0;
  while (end < text.size() && columns-- > 0)
    end += std::max<std::size_t>(1, utf8_length(std::string_view(text).substr(end)));
  return text.substr(0, end);
}

/// What is shown at one moment.
struct picture {
  std::vector<os::board_view> boards;
  std::vector<regions::os::running_process> programs;
  std::vector<regions::os::sharing_program> sharing;
};

/// Where their regions are in the sources. A program is looked at again only once it has more of
/// them: that takes a while.
class known_sources {
 public:
  void fill_in(regions::os::running_process& p) {
    std::vector<regions::process_account> one{p.told};
    std::vector<std::string>& known = of_[p.told.pid];
    if (known.size() != p.told.regions.size()) {
      regions::os::find_sources(one, p.program);
      known.clear();
      for (const regions::region_account& r : one.front().regions) known.push_back(r.source);
    }
    for (std::size_t n = 0; n < known.size(); ++n) p.told.regions[n].source = known[n];
  }

 private:
  std::map<pid_t, std::vector<std::string>> of_;
};

std::vector<std::string> sharing_lines(const std::vector<regions::os::sharing_program>& all) {
  std::vector<std::string> lines;
  for (const regions::os::sharing_program& one : all)
    lines.push_back(fmt::format("{:>8}  {:>9.3g}  {}  {}", one.pid ? std::to_string(*one.pid) : "-",
                                one.could_use, fmt::join(one.uses, ","),
                                one.pid ? one.program : "in another container"));
  if (!lines.empty()) lines.insert(lines.begin(), "     PID  COULD USE  CPUS  PROGRAM");
  return lines;
}

std::string text_of(const picture& p, const screen& s) {
  if (p.boards.empty() && p.programs.empty() && p.sharing.empty())
    return "no kilter lab balance of yours is running, nor a kilter run with parallel regions; "
           "start "
           "one: kilter lab balance -- PROGRAM, kilter run --explain -- PROGRAM\n";
  std::vector<std::string> lines = os::top_lines(p.boards);
  for (const regions::os::running_process& one : p.programs) {
    lines.push_back(fmt::format("kilter run: {}", one.program));
    for (std::string& line : regions::account_lines({one.told}, one.program))
      lines.push_back(std::move(line));
  }
  for (std::string& line : sharing_lines(p.sharing)) lines.push_back(std::move(line));
  if (s.rows > 1 && lines.size() > s.rows) {
    const std::size_t hidden = lines.size() - s.rows + 1;
    lines.resize(s.rows - 1);
    lines.push_back(fmt::format("... {} more lines", hidden));
  }
  std::string text;
  // threads and files bear what names they like
  for (const std::string& line : lines) text += first_columns(printable(line), s.columns) + "\n";
  return text;
}

std::string json_of(const picture& p) {
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  for (const regions::os::running_process& one : p.programs) {
    nlohmann::ordered_json run{{"program", one.program}};
    run.update(regions::account_json({one.told}).front());
    runs.push_back(std::move(run));
  }
  nlohmann::ordered_json sharing = nlohmann::ordered_json::array();
  for (const regions::os::sharing_program& one : p.sharing)
    sharing.push_back(
        {{"pid", one.pid ? nlohmann::ordered_json(*one.pid) : nlohmann::ordered_json(nullptr)},
         {"program", one.program},
         {"allowed", one.allowed},
         {"cpus", one.uses},
         {"could_use", one.could_use}});
  const nlohmann::ordered_json all{{"schema", "kilter.top/1"},
                                   {"balances", os::boards_json(p.boards)},
                                   {"runs", std::move(runs)},
                                   {"sharing", std::move(sharing)}};
  return all.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

int top(const top_options& o) {
  lab::check_output("--json", o.json);
  const bool live = ::isatty(STDOUT_FILENO) == 1 && !o.once && o.json.empty();
  const lab::interrupt_guard guard([] { ::_exit(stopped); });
  std::set<std::string> said;
  known_sources sources;
  do {
    os::shown_boards shown = os::read_boards();
    for (const std::string& line : shown.passed_over)
      if (said.insert(line).second) lab::tell(fmt::format("kilter top: {}\n", line));
    picture now{std::move(shown.views), regions::os::running_processes(),
                regions::os::sharing_programs()};
    for (regions::os::running_process& p : now.programs)
      if (p.own) sources.fill_in(p);
    if (!o.json.empty()) lab::write_output(o.json, json_of(now));
    if (o.json != "-") {
      screen s = size_of_screen();
      if (!live) s.rows = 0;
      lab::write_output("-", (live ? "\x1b[H\x1b[2J" : "") + text_of(now, s));
    }
    if (live) lab::interruptible_sleep(o.every_s);
  } while (live && !lab::interrupted());
  return lab::interrupted() ? stopped : 0;
}

}  // namespace

action add_top(CLI::App& app) {
  auto o = std::make_shared<top_options>();
  CLI::App* command = app.add_subcommand(
      "top",
      "What runs now: threads that kilter lab balance moves, where to and why; parallel regions of "
      "kilter run, their time and what is done with them; programs that share out CPUs");
  command->add_flag("--once", o->once,
                    "Print the table once; also if standard output is no terminal");
  command->add_option("--every", o->every_s, "Seconds between two tables")
      ->type_name("S")
      ->check(CLI::Range(0.1, 3600.0));
  command
      ->add_option("--json", o->json,
                   "Write JSON once to this file; -: to standard output, instead of the table")
      ->type_name("FILE");
  command->footer(
      "Examples:\n"
      "  kilter top\n"
      "  kilter top --once --json -");
  return [o] { return top(*o); };
}

}  // namespace kilter::cli
