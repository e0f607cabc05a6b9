#include <fmt/format.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/file_text.hpp"
#include "base/printable.hpp"
#include "child/program.hpp"
#include "child/tell.hpp"
#include "child/temporary_file.hpp"
#include "cli/commands.hpp"
#include "guest/preloading.hpp"
#include "host/cpu_mask.hpp"
#include "kilter/error.hpp"
#include "machine/cgroup.hpp"
#include "regions/explanation.hpp"
#include "regions/mask.hpp"
#include "regions/os/file_version.hpp"
#include "regions/os/logical_cpus.hpp"
#include "regions/os/look_around.hpp"
#include "regions/os/program_file.hpp"
#include "regions/os/source_lines.hpp"
#include "report/report.hpp"
#include "session/outputs.hpp"
#include "session/terminal.hpp"

extern char** environ;

namespace kilter::cli {

namespace {

constexpr const char* library = "libkilter_openmp.so";

struct run_options {
  std::vector<std::string> program, set;
  std::string json, html, history;
  std::string cpus = "paid";
  bool explain = false, dry_run = false, same_team = false, no_sharing = false;
};

void say(const std::string& line) { prefix::tell_user("kilter run: " + line + "\n"); }

regions::user_environment variables_here() {
  regions::user_environment all;
  for (char** at = environ; *at; ++at) {
    const std::string one = *at;
    if (const std::size_t equals = one.find('='); equals != one.npos)
      all.emplace(one.substr(0, equals), one.substr(equals + 1));
  }
  return all;
}

std::vector<std::pair<std::string, std::string>> read_set(const std::vector<std::string>& words) {
  std::vector<std::pair<std::string, std::string>> given;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == 0 || equals == word.npos)
      throw input_error("--set '" + word + "': is no KEY=VALUE, as OMP_NUM_THREADS=2 is one");
    given.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  return given;
}

/// What makes the program load the library; empty if it is not there or cannot be loaded.
guest::environment loading(const regions::program_file& file) {
  if (!regions::why_not_loaded(file).empty()) return {};
  try {
    return guest::preloading(library);
  } catch (const input_error&) {  // built without it, or in a folder from which nothing is loaded
    return {};
  }
}

/// By which the library and we tell one another something; null: nothing.
struct files_beside {
  std::unique_ptr<prefix::temporary_file> report;  ///< what it did
  std::unique_ptr<prefix::temporary_file> known;   ///< what earlier runs told
};

std::vector<std::string> quota_directories() {
  std::vector<std::string> directories;
  for (const auto& directory : detail::cgroup_directories("/"))
    directories.push_back(directory.string());
  return directories;
}

/// What the library goes by.
guest::environment told_to_library(const run_options& o, const regions::preparation& p,
                                   const files_beside& files) {
  guest::environment told;
  // 0: the user wants nothing done
  if (!std::getenv("KILTER_OPENMP")) told.emplace_back("KILTER_OPENMP", "1");
  if (o.no_sharing || !std::getenv("KILTER_SHARING"))
    told.emplace_back("KILTER_SHARING", o.no_sharing ? "0" : "1");
  if (o.same_team) told.emplace_back("KILTER_SAME_TEAM", "1");
  if (regions::unequal(regions::within(p.here, p.mask)))
    told.emplace_back("KILTER_UNEQUAL_CPUS", "1");
  if (p.here.quota) told.emplace_back("KILTER_QUOTA", fmt::format("{:.3f}", *p.here.quota));
  if (!p.mask.cpus.empty())
    told.emplace_back("KILTER_MASK", regions::told_mask(p.mask, quota_directories()));
  if (p.plan.openblas_follows) told.emplace_back("KILTER_OPENBLAS", "1");
  if (files.report) told.emplace_back("KILTER_EXPLAIN", files.report->path());
  if (files.known) told.emplace_back("KILTER_KNOWN_REGIONS", files.known->path());
  return told;
}

void put(const guest::environment& variables) {
  for (const auto& [variable, value] : variables) ::setenv(variable.c_str(), value.c_str(), 1);
}

/// Of who is about to become the program. If that cannot be, it runs where it may.
void narrow(const regions::mask_plan& mask) noexcept {
  if (mask.cpus.empty()) return;
  host::cpu_mask narrowed;
  for (const int cpu : mask.cpus) narrowed = host::either(narrowed, host::cpu_mask::of(cpu));
  static_cast<void>(host::set_affinity(0, narrowed));
}

/// What the user says of KILTER_OPENMP.
bool is_off(const char* wanted) { return wanted && std::string_view(wanted) == "0"; }

regions::preparation prepare(const run_options& o) {
  regions::preparation p{.program = o.program,
                         .here = regions::os::look_around(),
                         .mask = {},
                         .plan = {},
                         .file = {},
                         .loaded = {}};
  const auto given = read_set(o.set);
  put(given);  // PATH may be among them
  p.file = regions::os::look_at_program(o.program.front());
  if (!loading(p.file).empty()) p.loaded = library;
  const char* const wanted = std::getenv("KILTER_OPENMP");
  regions::os::find_cores(p.here);
  p.mask = regions::plan_mask(p.here, p.file, variables_here(),
                              {.choice = *regions::cpu_choice_from(o.cpus),
                               .on = regions::os::cpu_here(),
                               .same_teams = o.same_team,
                               .loaded = !p.loaded.empty()});
  const regions::surroundings within = regions::within(p.here, p.mask);
  const bool folds = !p.loaded.empty() && (!wanted || std::string_view(wanted) == "1") &&
                     regions::unequal(within) && regions::may_fold(p.file) &&
                     !regions::os::has_fences(p.file);
  p.plan =
      regions::plan_environment(within, variables_here(), given, o.same_team,
                                {.folds = folds, .openblas = !p.loaded.empty() && !is_off(wanted)});
  return p;
}

/// To the files that the user named.
void write(const run_options& o, const regions::preparation& p,
           const std::optional<regions::outcome>& outcome) {
  if (o.json.empty() && o.html.empty()) return;
  const std::string document = regions::run_json(p, outcome);
  if (!o.html.empty()) {
    lab::write_output(o.html, report::html(nlohmann::json::parse(document)));
    lab::tell(fmt::format("kilter run: report: {}\n", printable(lab::absolute_path(o.html))));
  }
  if (!o.json.empty()) lab::write_output(o.json, document);
}

int show(const run_options& o, const regions::preparation& p) {
  std::string text;
  for (const std::string& line : regions::lines_before(p)) text += line + "\n";
  if (o.json != "-") lab::show(text);
  write(o, p, std::nullopt);
  return 0;
}

regions::outcome outcome_of(const prefix::ended_program& ended, const std::string& report) {
  regions::outcome o{.seconds = ended.seconds,
                     .cpu_s = ended.cpu_s,
                     .exit_status = std::nullopt,
                     .signal = std::nullopt};
  if (WIFEXITED(ended.status))
    o.exit_status = WEXITSTATUS(ended.status);
  else
    o.signal = WTERMSIG(ended.status);
  o.processes = regions::read_account(report);
  return o;
}

/// The file of the program's code: of a script, of who runs it.
const std::string& code_of(const regions::preparation& p) {
  return p.file.run_by.empty() ? p.file.path : p.file.run_by;
}

/// Empty if there is none yet. A pipe would be waited for.
regions::region_history load_history(const std::string& path) {
  std::error_code unknown;
  const auto there = std::filesystem::status(path, unknown);
  if (path.empty() || there.type() == std::filesystem::file_type::not_found) return {};
  if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there) &&
      !std::filesystem::is_directory(there))
    throw input_error("--history '" + path + "': is no regular file");
  const std::string text = file_text(path, "--history", 64);
  try {
    return regions::parse_region_history(text);
  } catch (const input_error& e) {
    throw input_error("--history '" + path + "': " + e.what());
  }
}
void renew_history(const std::string& path, const regions::preparation& p,
                   const std::vector<regions::process_account>& processes) {
  if (path.empty()) return;
  regions::region_history known = load_history(path);  // again: another run may have renewed it
  regions::add_run(known, processes, code_of(p), regions::os::version_of_file);
  lab::write_output(path, regions::region_history_text(known));
}
/// Null if there is nothing that it can use.
std::unique_ptr<prefix::temporary_file> known_to_library(const regions::region_history& known,
                                                         const regions::preparation& p) {
  const std::string lines = regions::known_regions(known, code_of(p), regions::os::version_of_file);
  if (lines.empty()) return nullptr;
  auto file = std::make_unique<prefix::temporary_file>("known-regions");
  file->add(lines);
  return file;
}

/// Whatever becomes of what we tell and keep, the program runs, and ends as it ended.
template <class What>
void attempt(const char* what, const What& f) {
  try {
    f();
  } catch (const std::exception& e) {
    say(std::string(what) + ": " + e.what());
  }
}

/// What cannot be told or kept is left out, with a line; in a dry run there is nothing else to do,
/// so that it is refused. Returns what earlier runs told.
regions::region_history check_files(run_options& o) {
  regions::region_history known;
  const auto check = [&](std::string& file, const auto& f) {
    try {
      f();
    } catch (const std::exception& e) {
      if (o.dry_run) throw;
      say(std::string(e.what()) + "; '" + o.program.front() +
          "' runs all the same, and that file is left as it is");
      file.clear();
    }
  };
  check(o.json, [&] { lab::check_output("--json", o.json); });
  check(o.html, [&] { lab::check_output("--html", o.html); });
  check(o.history, [&] {
    known = load_history(o.history);  // it may be read where it cannot be written
    lab::check_output("--history", o.history);
  });
  return known;
}

void tell(const run_options& o, const regions::preparation& p, const prefix::ended_program& ended,
          const std::string& report) {
  const prefix::no_sigpipe quiet;
  regions::outcome outcome = outcome_of(ended, report);
  attempt("what was learned cannot be kept",
          [&] { renew_history(o.history, p, outcome.processes); });
  attempt("what was done cannot be told", [&] {
    regions::os::find_sources(outcome.processes, code_of(p));
    if (o.explain)
      for (const std::string& line : regions::lines_after(p, outcome)) say(line);
    write(o, p, outcome);
  });
}

int become(const run_options& o, const regions::mask_plan& mask) {
  std::fflush(nullptr);
  narrow(mask);
  return prefix::not_run(o.program.front(), prefix::run_alone(o.program));
}

/// What we would like to do beside the program cannot be done.
int become(const run_options& o, const regions::mask_plan& mask, const std::exception& why,
           const char* nevertheless) {
  say(std::string(why.what()) + "; '" + o.program.front() + "' " + nevertheless);
  return become(o, mask);
}

int run_and_tell(const run_options& o, const regions::preparation& p, files_beside& files) {
  std::fflush(nullptr);
  prefix::ended_program ended;
  try {
    const prefix::held_signals signals;
    ended = prefix::run_to_end(o.program, signals, [&] { narrow(p.mask); });
  } catch (const input_error& e) {
    files = {};
    return become(o, p.mask, e, "runs, and nothing is told at its end");
  }
  const std::string reported = files.report ? files.report->content() : "";
  files = {};  // we may end by a signal
  if (ended.exec_error != 0) return prefix::not_run(o.program.front(), ended.exec_error);
  tell(o, p, ended, reported);
  return prefix::end_like(ended.status);
}

int run(run_options o) {
  if (o.program.empty()) throw input_error("nothing to run: give -- PROGRAM ARGS...");
  static_cast<void>(read_set(o.set));
  if (!regions::cpu_choice_from(o.cpus))
    throw input_error("--cpus '" + o.cpus + "': is none of paid, fast and all");
  if (o.html == "-") throw input_error("--html -: the report is written to a file; give its name");
  const regions::region_history known = check_files(o);
  const bool tells = o.explain || !o.json.empty() || !o.html.empty() || !o.history.empty();
  regions::preparation p;
  files_beside files;
  try {
    p = prepare(o);
    for (const regions::setting& s : p.plan.set) put({{s.variable, s.value}});
    if (o.dry_run) return show(o, p);
    if (tells)
      attempt("what it does is not told",
              [&] { files.report = std::make_unique<prefix::temporary_file>("run"); });
    if (!p.loaded.empty()) {
      put(loading(p.file));  // beside what LD_PRELOAD has by now
      attempt("what earlier runs told is not used",
              [&] { files.known = known_to_library(known, p); });
      put(told_to_library(o, p, files));
    }
  } catch (const std::exception& e) {
    if (o.dry_run) throw;
    return become(o, {}, e, "runs as it would without Kilter");
  }
  if (!tells) return become(o, p.mask);
  if (o.explain)
    for (const std::string& line : regions::lines_before(p)) say(line);
  return run_and_tell(o, p, files);
}

}  // namespace

action add_run(CLI::App& app, const std::vector<std::string>& program) {
  auto o = std::make_shared<run_options>();
  o->program = program;
  CLI::App* command = app.add_subcommand(
      "run",
      "Run a program as it is (kilter run [OPTIONS] -- PROGRAM ARGS...), with as many threads as "
      "its CPUs, their neighbours and the quota make worth it");
  command->add_flag("--dry-run", o->dry_run,
                    "Print what the program would get and why, and run nothing");
  command->add_flag("--explain", o->explain,
                    "Say on standard error, before and after, what was done and why");
  command
      ->add_option("--set", o->set,
                   "Set this variable, and leave alone what it decides; may come again")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_flag("--same-team", o->same_team,
                    "Teams of OpenMP keep the size that they have without Kilter, so that sums "
                    "come out the same");
  command
      ->add_option("--cpus", o->cpus,
                   "The CPUs that it may use: paid, as many as the quota pays for; fast, of these "
                   "the fastest kind; all")
      ->type_name("WHICH")
      ->capture_default_str();
  command->add_flag("--no-sharing", o->no_sharing,
                    "Neither tell other programs of Kilter that this one is there, nor leave them "
                    "CPUs; KILTER_SHARING=0 does the same");
  command
      ->add_option(
          "--json", o->json,
          "Write what was done as JSON to this file; -: to standard output, as the last line")
      ->type_name("FILE");
  command
      ->add_option(
          "--history", o->history,
          "What earlier runs told of its parallel regions; read at the start, renewed at the end")
      ->type_name("FILE");
  command
      ->add_option(
          "--html", o->html,
          "Write a self-contained report to this file: where the time of its parallel regions went")
      ->type_name("FILE");
  command->footer(
      "What the program or its user has set stays. Where all CPUs are equal, free and paid for, "
      "nothing is changed.\n"
      "Exit status: the program's; 125 if Kilter fails, 126 if the program cannot be run, 127 if "
      "it is not found.\n"
      "Examples:\n"
      "  kilter run -- ./program ARGS...\n"
      "  kilter run --dry-run -- ./program\n"
      "  kilter run --explain --set OMP_WAIT_POLICY=active -- ./program\n"
      "  kilter run --html run.html -- ./program\n"
      "  kilter run --json run.json -- python3 script.py");
  return [o] { return run(*o); };
}

}  // namespace kilter::cli
