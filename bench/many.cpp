// bench_many: what a machine shows within some minutes, of everything that Kilter is compared in.
// It starts other programs and keeps their figures. bench/README.md says how it is used,
// survey/plan.cpp what comes first.

#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "kilter/error.hpp"
#include "kilter/machine.hpp"
#include "session/interrupt.hpp"
#include "session/outputs.hpp"
#include "survey/command.hpp"
#include "survey/tables.hpp"
#include "words/numbers.hpp"

namespace kilter::bench {

namespace {

namespace fs = std::filesystem;
using clock = std::chrono::steady_clock;

struct arguments {
  std::string budget, json_path, html_path, only, programs, rounds = "9", cap = "45";
  bool list = false, quiet = false;
};

/// Where a program lies: in `asked`, or beside this one, or where the build puts it.
fs::path found(const std::string& program, const std::string& asked) {
  std::error_code none;
  const fs::path here = fs::read_symlink("/proc/self/exe", none).parent_path();
  const std::vector<fs::path> folders =
      asked.empty() ? std::vector<fs::path>{here, here / "../cli"} : std::vector<fs::path>{asked};
  for (const fs::path& folder : folders)
    if (::access((folder / program).c_str(), X_OK) == 0)
      return fs::absolute(folder / program).lexically_normal();
  return {};
}

class survey {
 public:
  survey(const arguments& a, const survey_machine& m, survey_results& r, double budget_s,
         double cap_s)
      : a_(a), m_(m), results_(r), budget_s_(budget_s), cap_s_(cap_s), begin_(clock::now()) {}

  void run(const std::vector<survey_step>& plan) {
    while (!lab::interrupted()) {
      const std::size_t next = next_step(plan, results_.done(), budget_s_ - seconds(), budget_s_);
      if (next == plan.size()) return;
      show(plan[next].id());
      run_step(plan[next]);
    }
  }

  void clear() const {
    if (on_terminal()) fmt::print(stderr, "\r\033[K");
  }
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(clock::now() - begin_).count();
  }

 private:
  [[nodiscard]] bool on_terminal() const { return !a_.quiet && ::isatty(STDERR_FILENO); }

  void show(const std::string& what) const {
    if (a_.quiet) return;
    fmt::print(stderr, "{}bench/many: {:3.0f} of {:g} s, {}{}", on_terminal() ? "\r\033[K" : "",
               seconds(), budget_s_, what, on_terminal() ? "" : "\n");
    std::fflush(stderr);
  }

  void run_step(const survey_step& s) {
    const auto begin = clock::now();
    survey_run r;
    for (const survey_command& c : s.commands) {
      const child_result done = run_command(s, c);
      if (done.interrupted) return;
      r.failed = done.why;
      if (r.failed.empty()) try {
          read_speeds(c, done.output, r.speeds);
        } catch (const input_error& e) {
          r.failed = e.what();
        }
      if (!r.failed.empty()) break;
    }
    if (!r.failed.empty()) {
      r.speeds.clear();
      clear();
      fmt::print(stderr, "bench/many: {}: {}\n", s.id(), r.failed);
    }
    r.seconds = std::chrono::duration<double>(clock::now() - begin).count();
    results_.add(s, std::move(r));
  }

  child_result run_command(const survey_step& s, const survey_command& c) const {
    child_options o{.words = c.words, .variables = c.variables, .cpus = {}, .cap_s = cap_s_};
    if (s.cores > 0) o.cpus.assign(m_.cpus.begin(), m_.cpus.begin() + s.cores);
    for (std::string& word : o.words) {
      if (word == "PLATFORM") word = results_.platform_file();
      if (word == "kilter" || word.starts_with("bench_")) word = found(word, a_.programs).string();
    }
    const endless_loops beside(c.neighbours);
    return run_child(o);
  }

  const arguments& a_;
  const survey_machine& m_;
  survey_results& results_;
  const double budget_s_, cap_s_;
  const clock::time_point begin_;
};

/// The steps of the kinds that are asked for.
std::vector<survey_step> plan_of(const arguments& a, const survey_machine& m) {
  constexpr std::string_view kinds[] = {"graph", "program", "regions", "scaling", "calibrate"};
  std::vector<survey_step> plan =
      survey_plan(m, static_cast<std::uint32_t>(lab::parse_count("--rounds", a.rounds, 1, 99)));
  if (a.only.empty()) return plan;
  std::vector<std::string_view> wanted;
  for (const std::string_view word : lab::split_list(a.only))
    wanted.push_back(kinds[lab::parse_choice("--only", word, kinds)]);
  std::erase_if(plan, [&](const survey_step& s) {
    return std::ranges::find(wanted, std::string_view(s.kind)) == wanted.end();
  });
  return plan;
}

survey_machine this_machine(const arguments& a) {
  const machine here = machine::local();
  survey_machine m;
  for (const core& c : here.cores()) m.cpus.push_back(c.os_index);
  m.has_libomp = !found("bench_regions_libomp", a.programs).empty();
  return m;
}

int list(const std::vector<survey_step>& plan, double budget_s) {
  survey_done done;
  double left_s = budget_s;
  for (std::size_t next = next_step(plan, done, left_s, budget_s); next < plan.size();
       next = next_step(plan, done, left_s, budget_s)) {
    fmt::print("{:5.1f} s  {}\n", plan[next].expected_s, plan[next].id());
    left_s -= plan[next].expected_s;
    done.ids.insert(plan[next].id());
  }
  return 0;
}

int go(const arguments& a) {
  const auto budget_s = static_cast<double>(lab::parse_count("--budget", a.budget, 1, 86'400));
  const auto cap_s = static_cast<double>(lab::parse_count("--cap", a.cap, 1, 3600));
  const survey_machine m = this_machine(a);
  const auto plan = plan_of(a, m);
  if (a.list) return list(plan, budget_s);
  if (a.json_path.empty() || a.json_path == "-")
    throw input_error("--json: name a file; a later run goes on with it");
  lab::check_output("--json", a.json_path);
  lab::check_output("--html", a.html_path);
  for (const char* const program : {"kilter", "bench_graph", "bench_regions"})
    if (found(program, a.programs).empty())
      throw input_error(
          fmt::format("there is no program {} {}; build it, or name its folder with --programs",
                      program, a.programs.empty() ? "beside this one" : "in '" + a.programs + "'"));
  survey_results results(a.json_path, survey_environment(m));
  results.save();
  survey work(a, m, results, budget_s, cap_s);
  const auto stopped = [&] {
    work.clear();
    fmt::print(stderr,
               "bench/many: stopped; what was measured is in {}, the same command goes on\n",
               a.json_path);
  };
  {
    const lab::interrupt_guard guard([&] {
      stopped();
      ::_exit(130);
    });
    work.run(plan);
  }
  work.clear();
  const auto tables = survey_tables(results.runs());
  if (!a.html_path.empty()) lab::write_output(a.html_path, html_of(tables, results.document()));
  fmt::print("{}", text_of(tables));
  const auto failed =
      std::ranges::count_if(results.runs(), [](const survey_run& r) { return !r.failed.empty(); });
  fmt::print("{} of {} rounds of {} cores measured, {} failed; {}\n", results.runs().size(),
             plan.size(), m.cores(), failed, lab::absolute_path(a.json_path));
  if (lab::interrupted()) {
    stopped();
    return 130;
  }
  return failed > 0 ? 1 : 0;
}

}  // namespace

}  // namespace kilter::bench

int main(int argc, char** argv) {
  using namespace kilter;
  CLI::App app{
      "What this machine shows of Kilter and its peers within so many seconds: graphs, programs, "
      "kilter run, more cores, neighbours."};
  app.name("bench/many");
  bench::arguments a;
  app.add_option("--budget", a.budget, "Seconds that this may take; the most telling comes first")
      ->type_name("SECONDS")
      ->required();
  app.add_option("--json", a.json_path,
                 "Results, written after every run; if the file is there, this goes on with what "
                 "is missing")
      ->type_name("F");
  app.add_option("--html", a.html_path, "Write the tables as a page, too")->type_name("F");
  app.add_option("--only", a.only, "Some of graph, program, regions, scaling, calibrate")
      ->type_name("LIST");
  app.add_option("--rounds", a.rounds, "Of a cell, at most")->type_name("N")->capture_default_str();
  app.add_option("--cap", a.cap, "Seconds after which a program is ended; its run has failed then")
      ->type_name("SECONDS")
      ->capture_default_str();
  app.add_option("--programs", a.programs,
                 "Where kilter and the bench_ programs are (default: beside this one)")
      ->type_name("DIR");
  app.add_flag("--list", a.list,
               "Say what would be run, with the seconds expected, and run nothing");
  app.add_flag("--quiet", a.quiet, "No progress");
  app.footer(
      "The machine should do nothing else. Exit status: 0; 1: a run failed; 2: bad input; 130: "
      "stopped, and what was measured is kept.\n"
      "Examples:\n"
      "  bench/many --budget 240 --json here.json --html here.html\n"
      "  bench/many --budget 600 --json here.json           # goes on\n"
      "  bench/many --budget 600 --list");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);
    fmt::print(stderr, "bench/many: {}\n", e.what());
    return 2;
  }
  try {
    return bench::go(a);
  } catch (const input_error& e) {
    fmt::print(stderr, "bench/many: {}\n", e.what());
    return 2;
  } catch (const std::exception& e) {
    fmt::print(stderr, "bench/many: {}\n", e.what());
    return 1;
  }
}
