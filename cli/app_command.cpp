// `app`: real programs, run by Kilter and by what people use otherwise.

#include <fmt/format.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/printable.hpp"
#include "cli/app_programs.hpp"
#include "cli/values.hpp"
#include "graph_files/dag_json.hpp"
#include "kilter/error.hpp"
#include "measuring/recorded_graph.hpp"
#include "presenting/program_output.hpp"
#include "session/interrupt.hpp"
#include "session/outputs.hpp"
#include "words/join.hpp"

namespace kilter::cli {

void add_common(CLI::App& c, app_options& o) {
  takes(c.add_option("--model", o.models,
                     fmt::format("How the work is run: some of {}; all: each",
                                 lab::joined(apps::model_names, ", ")))
            ->type_name("LIST")
            ->group("Comparison"),
        {.words =
             [] {
               std::vector<std::string> names(apps::model_names.begin(), apps::model_names.end());
               names.emplace_back("all");
               return names;
             },
         .list = true});
  takes(c.add_option("--policy", o.common.policies,
                     "Policies of the model kilter, as auto,dam-c; all: every one that kilter "
                     "policies lists; ./libmine.so: one of your own")
            ->type_name("LIST")
            ->group("Comparison"),
        {.words = policy_names, .list = true, .files = true});
  takes(c.add_option("--disturb", o.common.disturb,
                     "Scenarios as KIND@CORES[:SHARE[,HALFPERIOD]][@FROM..TO]; + joins several; "
                     "undisturbed is always added")
            ->type_name("SPEC")
            ->group("Comparison"),
        {.words = disturbance_kinds});
  c.add_option("--record-graph", o.record_graph,
               "First run it once on one core, and write the graph of its tasks (kilter.graph/1), "
               "for kilter compare, compare and graph")
      ->type_name("FILE");
  add_settings(c, o.common, {"repeat", "seed", "cores", "smt", "load_table"});
  c.add_option("--json", o.out.how.json_path,
               "Write everything as JSON to this file; -: to standard output")
      ->type_name("FILE");
  c.add_flag("--quiet", o.out.quiet,
             "No progress line and no paths; with --json - nothing but JSON");
}

namespace {

/// What can be refused before anything runs.
struct prepared {
  lab::program_plan plan;
  made what;
  std::unique_ptr<lab::progress> shown;
};

/// That each can be written, and no two of them are one file.
void check_files(const app_options& o) {
  check_outputs(o.out);
  std::vector<std::pair<std::string, std::string>> taken;
  if (!o.out.how.json_path.empty())
    taken.emplace_back("--json", lab::absolute_path(o.out.how.json_path));
  for (const auto& [option, path] : {std::pair<std::string, std::string>{"--output", o.output},
                                     {"--checkpoint", o.checkpoint},
                                     {"--record-graph", o.record_graph}}) {
    if (path.empty()) continue;
    if (path == "-")
      throw input_error(fmt::format("{} '-': standard output has the table; name a file", option));
    const std::string whole = lab::absolute_path(path);
    for (const auto& [other, there] : taken)
      if (there == whole)
        throw input_error(fmt::format("{} '{}': {} writes there already; name another file", option,
                                      path, other));
    lab::check_output(option, path);
    taken.emplace_back(option, whole);
  }
  if (!o.record_graph.empty() && o.ranks->size() > 1)
    throw input_error(fmt::format(
        "--record-graph: each of the {} ranks makes a graph of its own; run it without mpirun",
        o.ranks->size()));
}

prepared prepare(const app_options& o, const std::string& name,
                 const std::function<made(std::uint64_t seed)>& make) {
  prepared p;
  static_cast<lab::experiment&>(p.plan) = lab::plan(o.common.read());
  p.plan.name = name;
  p.plan.models = lab::read_models(o.models);
  check_files(o);
  p.shown = std::make_unique<lab::progress>(1 + lab::steps_of(p.plan) + !o.record_graph.empty(),
                                            o.out.quiet || o.ranks->rank() != 0);
  p.shown->step("reading or making its input");
  p.what = make(p.plan.seed);
  return p;
}

int run_prepared(const app_options& o, const prepared& p) {
  const bool speaks = o.ranks->rank() == 0;
  const std::string about = p.what.program->about();
  std::optional<dag> graph;
  lab::progress& progress = *p.shown;
  lab::program_measurement work(p.plan, *p.what.program, progress);
  const auto run = [&] {
    if (!o.record_graph.empty()) {
      progress.step("recording its graph");
      graph = lab::record_graph(*p.what.program, p.plan.name, *p.plan.machine, p.plan.seed,
                                lab::interrupted);
    }
    work.run();
    progress.clear();
  };
  return run_and_deliver(run, [&] {
    const lab::program_result r = work.result();
    const std::string file =
        o.output.empty() || o.writes_output_itself || r.runs.empty() || !r.complete
            ? ""
            : p.what.program->result_file();
    if (!speaks) return;
    // mpirun gives its programs a terminal even where it has none itself
    const bool alone = o.ranks->size() == 1;
    const std::vector<std::string> found =
        r.complete && !r.runs.empty() ? p.what.program->found() : std::vector<std::string>();
    lab::document d = lab::to_document(p.plan, about, p.what.chosen, r, o.out.how);
    if (!found.empty()) d["found"] = found;
    if (graph)
      d["recorded_graph"] = {
          {"file", o.record_graph}, {"tasks", graph->tasks.size()}, {"edges", graph->edges.size()}};
    const auto text = [&](bool colour, std::size_t) {
      std::string all = lab::program_text(p.plan, about, r, colour && alone);
      for (const std::string& line : found) all += "  " + printable(line) + "\n";
      if (graph && !o.out.quiet)
        all += fmt::format(
            "  graph: {}, {} tasks and {} edges, recorded on one core, where each task ran alone\n",
            printable(o.record_graph), graph->tasks.size(), graph->edges.size());
      return all;
    };
    std::vector<std::function<void()>> files;
    if (!file.empty()) files.emplace_back([&] { lab::write_output(o.output, file); });
    if (graph)
      files.emplace_back([&] { lab::write_output(o.record_graph, dags::graph_json(*graph)); });
    deliver(o.out, text, d, files);
  });
}

int run_in_ranks(const app_options& o, const std::string& name,
                 const std::function<made(std::uint64_t seed)>& make) {
  prepared p;
  std::string refused;
  try {
    p = prepare(o, name, make);
    // also what only this rank has met: the others would wait for it
  } catch (const std::exception& e) {
    refused = e.what();
  }
  // All end, or none. mpirun has more to say about those that fail, so only the first says why.
  refused = apps::first_said(*o.ranks, refused);
  if (!refused.empty() && o.ranks->rank() == 0) throw input_error(refused);
  if (!refused.empty()) return bad_input;
  const std::vector<core_id> share = apps::share_of(*o.ranks, *p.plan.machine);
  p.plan.options.machine = std::make_shared<const machine>(p.plan.machine->restricted_to(share));
  p.plan.ranks = o.ranks->size();
  if (o.ranks->rank() != 0)
    for (lab::scenario& s : p.plan.scenarios) s.parts.clear();
  try {
    return run_prepared(o, p);
  } catch (const apps::wrong_result& e) {  // which all know of
    if (o.ranks->rank() == 0) throw;
    return went_wrong;
  } catch (const std::exception& e) {
    lab::tell(fmt::format("kilter: rank {}: {}\n", o.ranks->rank(), printable(e.what())));
    o.ranks->end_all(went_wrong);
    return went_wrong;
  }
}

}  // namespace

int run_program(const app_options& o, const std::string& name,
                const std::function<made(std::uint64_t seed)>& make) {
  if (o.ranks->size() > 1) return run_in_ranks(o, name, make);
  return run_prepared(o, prepare(o, name, make));
}

action add_app(CLI::App& root, const std::string& command_line) {
  CLI::App* app =
      root.add_subcommand("app", "Run a real program, by Kilter and by what people use otherwise");
  app->require_subcommand(1);
  app->footer(
      "Each run is verified. Exit status 1: a result was wrong.\n"
      "Example:\n"
      "  kilter lab app kmeans --model all --disturb cpu@0");
#define ROW(name) {#name, add_##name},
  constexpr std::pair<const char*, add_program*> all[] = {KILTER_PROGRAMS(ROW)};
#undef ROW
  std::map<std::string, action> programs;
  for (const auto& [name, add] : all) programs.emplace(name, add(*app, command_line));
  return [app, programs] { return programs.at(app->get_subcommands().front()->get_name())(); };
}

}  // namespace kilter::cli
