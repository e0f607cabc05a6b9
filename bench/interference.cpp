// bench_interference: what a disturbed core costs Kilter and its peers, as fractions of what is
// possible. bench/README.md explains the rows.

#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cstdio>

#include "kilter/error.hpp"
#include "session/interrupt.hpp"
#include "session/outputs.hpp"
#include "study/report.hpp"
#include "study/runner.hpp"
#include "words/numbers.hpp"

namespace kilter::bench {

namespace {

struct arguments {
  study_options what;
  std::string out = "bench-results/interference", json_path, html_path, repeats;
  bool report_only = false, list = false, quiet = false;
};

/// Cores with their operating system numbers: results of other machines, or of other CPUs of this
/// one, do not mix with these.
std::string identity_of(const machine& m) {
  std::string text = m.name() + ", CPUs";
  for (const core& c : m.cores()) text += fmt::format(" {}", c.os_index);
  return text;
}

double remaining_s(const std::vector<cell>& cells, const std::vector<const system*>& systems,
                   const journal& j) {
  double total_s = 0.0;
  for (const cell& c : cells) {
    std::size_t missing = 0;
    for (std::uint32_t r = 0; r < c.repeats; ++r)
      for (const system* s : systems) missing += !j.has(c.id(), s->name, r);
    if (missing > 0) total_s += static_cast<double>(missing) * expected_s(c) + expected_bound_s(c);
  }
  return total_s;
}

void deliver(const arguments& a, const journal& j, const machine& m, bool complete) {
  const study_summary s = summarize(j, m);
  if (a.json_path != "-") fmt::print("{}", text_of(s));
  if (!a.json_path.empty()) lab::write_output(a.json_path, json_of(s, m, complete).dump(2) + "\n");
  if (!a.html_path.empty()) {
    lab::write_output(a.html_path, html_of(s, m));
    fmt::print(stderr, "bench/interference: report in {}\n", lab::absolute_path(a.html_path));
  }
}

int list(const std::vector<cell>& cells, const std::vector<const system*>& systems) {
  for (const cell& c : cells)
    fmt::print("{:<24} {} repeats, {}\n", c.id(), c.repeats, lab::to_string(c.parts));
  for (const system* s : systems) fmt::print("system {}\n", s->name);
  return 0;
}

int measure(const arguments& a, const std::shared_ptr<const machine>& m) {
  const auto cells = cells_of(a.what, *m);
  const auto systems = systems_of(a.what);
  if (a.list) return list(cells, systems);
  journal j(a.out, identity_of(*m));
  const double total_s = remaining_s(cells, systems, j);
  if (!a.quiet && total_s > 0)
    fmt::print(stderr,
               "bench/interference: about {} to measure; Ctrl-C stops, the same command goes on\n",
               duration_text(total_s));
  study_progress shown(total_s, a.quiet);
  // Peers cannot be cancelled. What is finished is in the journal, so there is nothing to save.
  const auto stopped = [&] {
    shown.clear();
    fmt::print(stderr,
               "bench/interference: stopped; finished runs are in {}, the same command goes on, "
               "--report shows them\n",
               a.out);
  };
  {
    lab::interrupt_guard guard([&] {
      stopped();
      ::_exit(130);
    });
    runner(m, j, shown).run(cells, systems);
    if (lab::interrupted()) {
      stopped();
      return 130;
    }
  }
  shown.clear();
  deliver(a, j, *m, true);
  return 0;
}

int go(arguments& a) {
  a.what.repeats = static_cast<std::uint32_t>(
      a.repeats.empty() ? (a.what.quick ? 2 : 8)
                        : lab::parse_count("--repeat", a.repeats, 1, 1000));
  lab::check_output("--json", a.json_path);
  lab::check_output("--html", a.html_path);
  const auto m = std::make_shared<const machine>(machine::local());
  if (a.report_only) {
    deliver(a, journal(a.out), *m, true);
    return 0;
  }
  if (m->core_count() < 2)
    throw input_error(
        "there is one core only; the study disturbs core 0 and needs another one beside it");
  return measure(a, m);
}

}  // namespace

}  // namespace kilter::bench

int main(int argc, char** argv) {
  using namespace kilter;
  CLI::App app{
      "Layered DAGs under disturbances of core 0: schedulers of Kilter and peer runtimes, "
      "interleaved, as fractions of the bound."};
  app.name("bench/interference");
  bench::arguments a;
  app.add_option("--out", a.out, "Folder of the journal; runs that are in it are not repeated")
      ->type_name("DIR")
      ->capture_default_str();
  app.add_flag("--quick", a.what.quick,
               "Bodies of 16 us, two repeats, runs of 1 s and a few short ones: about ten minutes");
  app.add_option("--repeat", a.repeats,
                 "Runs of each system in each cell, the root's core changing (default: 8, quick 2; "
                 "a quarter for 20 s runs)")
      ->type_name("R");
  app.add_option(
         "--cells", a.what.cells,
         "Only cells that match one of these shell patterns, as 'P2/*/cpu/1s,P1/16us/*/20ms'")
      ->type_name("LIST");
  app.add_option("--systems", a.what.systems, "Only these systems, as rws,dam-c,onetbb")
      ->type_name("LIST");
  app.add_flag("--list", a.list, "Name the cells and systems and measure nothing");
  app.add_flag("--report", a.report_only, "Measure nothing; show what the journal has");
  app.add_option("--json", a.json_path,
                 "Write goals and cells as JSON; - is standard output, and then there is no table")
      ->type_name("F");
  app.add_option("--html", a.html_path, "Write a self-contained page")->type_name("F");
  app.add_flag("--quiet", a.quiet, "No progress");
  app.footer("The whole study takes hours. Ctrl-C loses only the run that is going on.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);
    fmt::print(stderr, "bench/interference: {}\n", e.what());
    return 2;
  }
  try {
    return bench::go(a);
  } catch (const input_error& e) {
    fmt::print(stderr, "bench/interference: {}\n", e.what());
    return 2;
  } catch (const std::exception& e) {
    fmt::print(stderr, "bench/interference: {}\n", e.what());
    return 1;
  }
}
