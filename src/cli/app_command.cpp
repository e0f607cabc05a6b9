// `app`: real programs, run by Kilter and by what people use otherwise.

#include <fmt/format.h>

#include <map>
#include <string>

#include "cli/app_programs.hpp"
#include "cli/values.hpp"
#include "kilter/error.hpp"
#include "lab/presenting/program_output.hpp"
#include "lab/session/outputs.hpp"
#include "lab/words/join.hpp"

namespace kilter::cli {

void add_common(CLI::App& c, app_options& o) {
  takes(c.add_option("--model", o.models, fmt::format("How the work is run: some of {}; all: each", lab::joined(apps::model_names, ", ")))->type_name("LIST")
            ->group("Comparison"), {.words = [] {
          std::vector<std::string> names(apps::model_names.begin(), apps::model_names.end());
          names.emplace_back("all");
          return names;
        }, .list = true});
  takes(c.add_option("--policy", o.common.policies, "Policies of the model kilter, as auto,dam-c; all: every one that kilter policies lists; ./libmine.so: one of your own")
            ->type_name("LIST")->group("Comparison"), {.words = policy_names, .list = true, .files = true});
  takes(c.add_option("--disturb", o.common.disturb, "Scenarios as KIND@CORES[:SHARE[,HALFPERIOD]][@FROM..TO]; + joins several; undisturbed is always added")
            ->type_name("SPEC")->group("Comparison"), {.words = disturbance_kinds});
  add_settings(c, o.common, {"repeat", "seed", "cores", "smt", "load_table"});
  c.add_option("--json", o.out.how.json_path, "Write everything as JSON to this file; -: to standard output")->type_name("FILE");
  c.add_flag("--quiet", o.out.quiet, "No progress line and no paths; with --json - nothing but JSON");
}

int run_program(const app_options& o, const std::string& name, const std::function<made(std::uint64_t seed)>& make) {
  lab::program_plan plan;
  static_cast<lab::experiment&>(plan) = lab::plan(o.common.read());
  plan.name = name;
  plan.models = lab::read_models(o.models);
  check_outputs(o.out);
  lab::check_output("--output", o.output);
  if (!o.output.empty() && (o.output == o.out.how.json_path))
    throw input_error(fmt::format("--output '{}': --json writes there already; name another file", o.output));
  const made what = make(plan.seed);
  const std::string about = what.program->about();
  lab::progress progress(lab::steps_of(plan), o.out.quiet);
  lab::program_measurement work(plan, *what.program, progress);
  const auto run = [&] {
    work.run();
    progress.clear();
  };
  return run_and_deliver(run, [&] {
    const lab::program_result r = work.result();
    deliver(o.out, [&](bool colour) { return lab::program_text(plan, about, r, colour); }, lab::to_document(plan, about, what.chosen, r, o.out.how));
    if (!o.output.empty() && !r.runs.empty()) lab::write_output(o.output, what.program->result_file());
  });
}

action add_app(CLI::App& root, const std::string& command_line) {
  CLI::App* app = root.add_subcommand("app", "Run a real program, by Kilter and by what people use otherwise");
  app->require_subcommand(1);
  app->footer("Each run is verified. Exit status 1: a result was wrong.\n"
              "Example:\n"
              "  kilter app kmeans --model all --disturb cpu@0");
  const std::map<std::string, action> programs{{"kmeans", add_kmeans(*app, command_line)}};
  return [app, programs] { return programs.at(app->get_subcommands().front()->get_name())(); };
}

}  // namespace kilter::cli
