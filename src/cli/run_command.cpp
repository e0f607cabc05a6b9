#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "balance/preload/library.hpp"
#include "cli/commands.hpp"
#include "kilter/error.hpp"
#include "lab/session/outputs.hpp"
#include "prefix/program.hpp"
#include "prefix/tell.hpp"
#include "prefix/temporary_file.hpp"
#include "regions/explanation.hpp"
#include "regions/os/look_around.hpp"
#include "regions/os/program_file.hpp"
#include "regions/os/source_lines.hpp"
#include "report/report.hpp"

extern char** environ;

namespace kilter::cli {

namespace {

constexpr const char* library = "libkilter_openmp.so";

struct run_options {
  std::vector<std::string> program, set;
  std::string json, html;
  bool explain = false, dry_run = false, same_team = false;
};

void say(const std::string& line) { prefix::tell_user("kilter run: " + line + "\n"); }

regions::user_environment variables_here() {
  regions::user_environment all;
  for (char** at = environ; *at; ++at) {
    const std::string one = *at;
    if (const std::size_t equals = one.find('='); equals != one.npos) all.emplace(one.substr(0, equals), one.substr(equals + 1));
  }
  return all;
}

std::vector<std::pair<std::string, std::string>> read_set(const std::vector<std::string>& words) {
  std::vector<std::pair<std::string, std::string>> given;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == 0 || equals == word.npos) throw input_error("--set '" + word + "': is no KEY=VALUE, as OMP_NUM_THREADS=2 is one");
    given.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  return given;
}

/// What makes the program load the library; empty if it is not there or cannot be loaded.
balance::preload::environment loading(const regions::program_file& file) {
  if (!regions::why_not_loaded(file).empty()) return {};
  try {
    return balance::preload::preloading(library);
  } catch (const input_error&) {  // built without it, or in a folder from which nothing is loaded
    return {};
  }
}

/// What the library goes by; `report` is the file for what it did, if anybody wants to know.
balance::preload::environment told_to_library(const std::string& report) {
  balance::preload::environment told;
  if (!std::getenv("KILTER_OPENMP")) told.emplace_back("KILTER_OPENMP", "1");  // 0: the user wants nothing done
  if (!report.empty()) told.emplace_back("KILTER_EXPLAIN", report);
  return told;
}

void put(const balance::preload::environment& variables) {
  for (const auto& [variable, value] : variables) ::setenv(variable.c_str(), value.c_str(), 1);
}

regions::preparation prepare(const run_options& o) {
  regions::preparation p{.program = o.program, .here = regions::os::look_around(), .plan = {}, .file = {}, .loaded = {}};
  const auto given = read_set(o.set);
  put(given);  // PATH may be among them
  p.file = regions::os::look_at_program(o.program.front());
  if (!loading(p.file).empty()) p.loaded = library;
  const char* const wanted = std::getenv("KILTER_OPENMP");
  const bool folds = !p.loaded.empty() && (!wanted || std::string_view(wanted) == "1") && regions::may_fold(p.file);
  p.plan = regions::plan_environment(p.here, variables_here(), given, o.same_team, folds);
  return p;
}

/// To the files that the user named.
void write(const run_options& o, const regions::preparation& p, const std::optional<regions::outcome>& outcome) {
  if (o.json.empty() && o.html.empty()) return;
  const std::string document = regions::run_json(p, outcome);
  if (!o.html.empty()) lab::write_output(o.html, report::html(nlohmann::json::parse(document)));
  if (!o.json.empty()) lab::write_output(o.json, document);
}

int show(const run_options& o, const regions::preparation& p) {
  std::string text;
  for (const std::string& line : regions::lines_before(p)) text += line + "\n";
  if (o.json != "-") lab::write_output("-", text);
  write(o, p, std::nullopt);
  return 0;
}

regions::outcome outcome_of(const prefix::ended_program& ended, const std::string& report) {
  regions::outcome o{.seconds = ended.seconds, .cpu_s = ended.cpu_s, .exit_status = std::nullopt, .signal = std::nullopt};
  if (WIFEXITED(ended.status)) o.exit_status = WEXITSTATUS(ended.status);
  else o.signal = WTERMSIG(ended.status);
  o.processes = regions::parse_told(report);
  return o;
}

/// Whatever becomes of what we write ourselves, a program that has run ends as it ended.
void tell(const run_options& o, const regions::preparation& p, const prefix::ended_program& ended, const std::string& report) {
  const prefix::no_sigpipe quiet;
  try {
    regions::outcome outcome = outcome_of(ended, report);
    regions::os::find_sources(outcome.processes, p.file.run_by.empty() ? p.file.path : p.file.run_by);
    if (o.explain)
      for (const std::string& line : regions::lines_after(p, outcome)) say(line);
    write(o, p, outcome);
  } catch (const std::exception& e) {
    say(std::string("what was done cannot be told: ") + e.what());
  }
}

int become(const run_options& o) {
  std::fflush(nullptr);
  return prefix::not_run(o.program.front(), prefix::run_alone(o.program));
}

/// What we would like to do beside the program cannot be done.
int become(const run_options& o, const std::exception& why, const char* nevertheless) {
  say(std::string(why.what()) + "; '" + o.program.front() + "' " + nevertheless);
  return become(o);
}

int run_and_tell(const run_options& o, const regions::preparation& p, std::optional<prefix::temporary_file>& report) {
  std::fflush(nullptr);
  prefix::ended_program ended;
  try {
    const prefix::held_signals signals;
    ended = prefix::run_to_end(o.program, signals);
  } catch (const input_error& e) {
    report.reset();
    return become(o, e, "runs, and nothing is told at its end");
  }
  const std::string reported = report->content();
  report.reset();  // we may end by a signal
  if (ended.exec_error != 0) return prefix::not_run(o.program.front(), ended.exec_error);
  tell(o, p, ended, reported);
  return prefix::end_like(ended.status);
}

int run(const run_options& o) {
  if (o.program.empty()) throw input_error("nothing to run: give -- PROGRAM ARGS...");
  static_cast<void>(read_set(o.set));
  lab::check_output("--json", o.json);
  lab::check_output("--html", o.html);
  if (o.html == "-") throw input_error("--html -: the report is written to a file; give its name");
  const bool tells = o.explain || !o.json.empty() || !o.html.empty();
  regions::preparation p;
  std::optional<prefix::temporary_file> report;
  try {
    p = prepare(o);
    for (const regions::setting& s : p.plan.set) put({{s.variable, s.value}});
    if (o.dry_run) return show(o, p);
    if (tells) report.emplace("run");
    if (!p.loaded.empty()) {
      put(loading(p.file));  // beside what LD_PRELOAD has by now
      put(told_to_library(report ? report->path() : ""));
    }
  } catch (const std::exception& e) {
    if (o.dry_run) throw;
    return become(o, e, "runs as it would without Kilter");
  }
  if (!tells) return become(o);
  if (o.explain)
    for (const std::string& line : regions::lines_before(p)) say(line);
  return run_and_tell(o, p, report);
}

}  // namespace

action add_run(CLI::App& app, const std::vector<std::string>& program) {
  auto o = std::make_shared<run_options>();
  o->program = program;
  CLI::App* command = app.add_subcommand("run",
      "Run a program as it is (kilter run [OPTIONS] -- PROGRAM ARGS...), with as many threads as its CPUs, their neighbours and the quota make worth it");
  command->add_flag("--dry-run", o->dry_run, "Print what the program would get and why, and run nothing");
  command->add_flag("--explain", o->explain, "Say on standard error, before and after, what was done and why");
  command->add_option("--set", o->set, "Set this variable, and leave alone what it decides; may come again")->type_name("KEY=VALUE")->expected(1)->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_flag("--same-team", o->same_team, "Teams of OpenMP keep the size that they have without Kilter, so that sums come out the same");
  command->add_option("--json", o->json, "Write what was done as JSON to this file; -: to standard output, as the last line")->type_name("FILE");
  command->add_option("--html", o->html, "Write a self-contained report to this file: where the time of its parallel regions went")->type_name("FILE");
  command->footer("What the program or its user has set stays. Where all CPUs are equal, free and paid for, nothing is changed.\n"
                  "Exit status: the program's; 125 if Kilter fails, 126 if the program cannot be run, 127 if it is not found.\n"
                  "Examples:\n"
                  "  kilter run -- ./program ARGS...\n"
                  "  kilter run --dry-run -- ./program\n"
                  "  kilter run --explain --set OMP_WAIT_POLICY=active -- ./program\n"
                  "  kilter run --html run.html -- ./program\n"
                  "  kilter run --json run.json -- python3 script.py");
  return [o] { return run(*o); };
}

}  // namespace kilter::cli
