#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include <unistd.h>

#include "claims/flips.hpp"
#include "claims/readings.hpp"
#include "claims/reproduction.hpp"
#include "cli/commands.hpp"
#include "cli/values.hpp"
#include "kilter/error.hpp"
#include "measuring/experiment.hpp"
#include "measuring/presets.hpp"
#include "presenting/environment.hpp"
#include "presenting/figure_json.hpp"
#include "presenting/reproduce_json.hpp"
#include "presenting/reproduce_text.hpp"
#include "presenting/topo.hpp"
#include "report/report.hpp"
#include "session/interrupt.hpp"
#include "session/outputs.hpp"
#include "session/terminal.hpp"
#include "words/join.hpp"

namespace kilter::cli {

namespace {

struct reproduce_options {
  std::vector<std::string> claims{"all"};
  std::string command_line, json, html;
  std::vector<std::string> readings;
  std::string as = "published";
  bool quiet = false, list = false, native = false, flips = false;
};

void check_native(const reproduce_options& o, const std::vector<lab::experiment_file>& files,
                  const std::vector<std::string>& ids) {
  if (!o.readings.empty() || o.as != "published")
    throw input_error("--native: readings are of simulated scenarios; leave out --with and --as");
  std::vector<std::string> have;
  for (const lab::experiment_file& f : files)
    for (const lab::claim& c : f.claims)
      if (!c.native.empty()) have.push_back(c.id);
  if (std::ranges::none_of(
          have, [&](const std::string& id) { return std::ranges::find(ids, id) != ids.end(); }))
    throw input_error(fmt::format("--native: {} {} no native cases; there are some of {}",
                                  lab::joined(ids, ", "), ids.size() == 1 ? "has" : "have",
                                  lab::joined(have, ", ")));
}

/// Of what was measured here.
lab::document environment_of(const reproduce_options& o, double seconds) {
  lab::document d = lab::environment_of(
      {{}, !lab::interrupted(), seconds},
      {.command_line = o.command_line, .json_path = o.json, .html_path = o.html, .trace_path = {}});
  d["machine"] = lab::document::parse(lab::topo_json(*lab::local_machine("", false)));
  return d;
}

int compare_readings(const reproduce_options& o,
                     const std::vector<lab::experiment_file>& as_described,
                     const std::vector<std::string>& ids) {
  for (const auto& [option, path] : {std::pair{"--json", o.json}, {"--html", o.html}})
    if (!path.empty())
      throw input_error(fmt::format(
          "{} '{}': verdicts are those of the files as they are; leave out --with", option, path));
  std::vector<std::string> names{o.as == "published" ? "as described" : "as " + o.as};
  std::vector<lab::reproduction> works;
  works.emplace_back(as_described);
  for (const std::string& reading : o.readings) {
    auto files = as_described;
    lab::read_differently(files, reading);
    works.emplace_back(std::move(files));
    names.push_back(reading);
  }
  lab::progress progress(works.size() * works.front().steps(ids), o.quiet);
  std::vector<std::vector<lab::claim_result>> results;
  {
    const lab::interrupt_guard guard([] { ::_exit(stopped); });
    for (lab::reproduction& work : works) results.push_back(work.run(ids, progress).claims);
  }
  progress.clear();
  if (lab::interrupted()) return stopped;
  lab::show(lab::readings_text(names, results));
  return 0;
}

int show_flips(const reproduce_options& o, std::vector<lab::experiment_file> files,
               const std::vector<std::string>& ids) {
  if (!o.html.empty())
    throw input_error(
        fmt::format("--html '{}': --flips has a text and a JSON form; leave out --html", o.html));
  lab::check_output("--json", o.json);
  lab::flip_search work(std::move(files), lab::read_readings(lab::experiments_directory()), ids);
  lab::progress progress(work.steps(), o.quiet);
  std::vector<lab::claim_flips> found;
  {
    const lab::interrupt_guard guard([] { ::_exit(stopped); });
    found = work.run(progress);
  }
  progress.clear();
  if (lab::interrupted()) return stopped;
  if (o.json != "-") lab::show(lab::flips_text(found));
  if (!o.json.empty())
    lab::write_output(o.json,
                      lab::to_json(std::span<const lab::claim_flips>(found)).dump(1) + "\n");
  return 0;
}

}  // namespace

action add_reproduce(CLI::App& app, const std::string& command_line) {
  auto o = std::make_shared<reproduce_options>();
  o->command_line = command_line;
  CLI::App* reproduce = app.add_subcommand(
      "reproduce", "Run the papers' experiments in virtual time and judge every claim");
  takes(reproduce->add_option("CLAIM", o->claims, "all, a paper (S0 to S4) or claims (S0-11)"),
        {.words = [] {
          return lab::chosen_claims(lab::read_experiments(lab::experiments_directory()), {"all"});
        }});
  reproduce
      ->add_option("--json", o->json,
                   "Write every number and verdict as JSON to this file; -: to standard output")
      ->type_name("FILE");
  reproduce
      ->add_option("--html", o->html,
                   "Write verdicts and the papers' figures as a self-contained report to this file")
      ->type_name("FILE");
  reproduce
      ->add_option("--with", o->readings,
                   "Another reading of what the papers leave open, as children=forward or "
                   "refresh=10,timing=honest; "
                   "several give a table")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  takes(reproduce
            ->add_option("--as", o->as,
                         "Whose reading: published, what the papers say; coded, what their public "
                         "code does; kilter, with Kilter's own settings")
            ->type_name("READING"),
        one_of(lab::readings));
  reproduce->add_flag("--flips", o->flips,
                      "For each claim the verdict as published, as coded, and every single reading "
                      "that changes it; takes long");
  reproduce->add_flag(
      "--native", o->native,
      "Also run the native cases of the claims on this machine, which should be quiet");
  reproduce->add_flag("--list", o->list, "Name the claims and run nothing");
  reproduce->add_flag("--quiet", o->quiet, "No progress line and no paths");
  reproduce->footer(
      "Examples:\n"
      "  kilter lab reproduce --list\n"
      "  kilter lab reproduce S0-11 S2-2\n"
      "  kilter lab reproduce S0-20 S0-22 --native\n"
      "  kilter lab reproduce all --json verdicts.json --html verdicts.html\n"
      "  kilter lab reproduce S0-2 S2-2 --with children=forward --with refresh=10\n"
      "  kilter lab reproduce S0 --as coded\n"
      "  kilter lab reproduce S0-11 S2-2 --flips\n"
      "  kilter lab reproduce matrix --html matrix.html");
  const action matrix = add_matrix(*reproduce, command_line),
               topcuoglu = add_topcuoglu(*reproduce, command_line);
  return [o, reproduce, matrix, topcuoglu] {
    if (reproduce->got_subcommand("matrix")) return matrix();
    if (reproduce->got_subcommand("topcuoglu")) return topcuoglu();
    auto files = lab::read_experiments(lab::experiments_directory());
    const auto ids = lab::chosen_claims(files, o->claims);
    if (o->list) {
      lab::show(lab::claims_text(files, ids));
      return 0;
    }
    if (o->native) check_native(*o, files, ids);
    if (o->flips && (!o->readings.empty() || o->as != "published" || o->native))
      throw input_error(
          "--flips: tries every reading, and coded beside them; leave out --with, --as and "
          "--native");
    if (o->flips) return show_flips(*o, files, ids);
    const lab::known_readings known = lab::read_readings(lab::experiments_directory());
    const std::vector<lab::first_tally> first = lab::first_tallies(known, files, ids);
    lab::read_as(files, o->as, known);
    if (!o->readings.empty()) return compare_readings(*o, files, ids);
    if (!o->html.empty() && o->html == o->json)
      throw input_error(
          fmt::format("--html '{}': --json writes there already; name another file", o->html));
    lab::check_output("--json", o->json);
    lab::check_report_output("--html", o->html);
    lab::reproduction work(files, {.draws = !o->html.empty(), .natively = o->native});
    lab::progress progress(work.steps(ids), o->quiet);
    lab::reproduced results;
    const auto begin = std::chrono::steady_clock::now();
    {
      const lab::interrupt_guard guard([] { ::_exit(stopped); });
      results = work.run(ids, progress);
    }
    progress.clear();
    lab::add_recorded(results.claims, files);
    const std::string text = lab::verdicts_text(results.claims, lab::colour_wanted(STDOUT_FILENO)) +
                             lab::first_text(first);
    if (o->json != "-" && o->html != "-") lab::show(text);
    const auto write = [&](const char* what, const std::string& path, const std::string& content) {
      lab::write_output(path, content);
      const bool stdout_taken = o->json == "-" || o->html == "-";
      if (!o->quiet && !stdout_taken)
        lab::show(fmt::format("{}: {}\n", what, lab::absolute_path(path)));
    };
    if (!o->json.empty()) {
      lab::document d = lab::to_json(std::span<const lab::claim_result>(results.claims));
      d["as"] = o->as;
      if (o->native)
        d["environment"] = environment_of(
            *o, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
      write("json", o->json, d.dump(1) + "\n");
    }
    if (!o->html.empty()) {
      lab::document d = lab::report_document(results.claims, results.figures);
      d["as"] = o->as;
      for (const lab::first_tally& f : first)
        d["first"].push_back({{"papers", f.papers}, {"commit", f.commit}, {"said", f.said}});
      write("report", o->html, report::html(d));
    }
    return lab::interrupted() ? stopped : 0;
  };
}

}  // namespace kilter::cli
