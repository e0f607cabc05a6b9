#include <memory>

#include "cli/commands.hpp"
#include "cli/deliver.hpp"
#include "cli/settings.hpp"
#include "cli/values.hpp"
#include "presenting/compare_output.hpp"
#include "session/progress.hpp"

namespace kilter::cli {

namespace {

struct compare_options {
  lab::compare_specification what;
  std::vector<std::string> on;
  worded_specification common;
  outputs out;
  bool yes = false;
};

}  // namespace

action add_compare(CLI::App& app, const std::string& command_line) {
  const auto o = std::make_shared<compare_options>();
  o->out.how.command_line = command_line;
  worded_specification& common = o->common;
  common.rest.repeats = 3;
  CLI::App* c =
      app.add_subcommand("compare", "Compare policies on graphs and workloads, against a bound");
  takes(c->add_option("GRAPH", o->what.graphs,
                      "Files, - for standard input, generators, as cholesky:tasks=1000, and "
                      "workloads, as layered; kilter graph --help lists the formats")
            ->required()
            ->type_name(""),
        {.words =
             [] {
               std::vector<std::string> names(lab::own_names().begin(), lab::own_names().end());
               for (std::string& call : generator_calls()) names.push_back(std::move(call));
               return names;
             },
         .files = true});
  takes(c->add_option("--on", o->on,
                      "native, sim:PLATFORM, emulate:PLATFORM[,SCALE] or ideal, the processors "
                      "that the graph brings; several are run in turn "
                      "(default: ideal if there are processors, else native)")
            ->type_name("WHERE")
            ->allow_extra_args(false)
            ->group("Machine"),
        {.words = [] {
          std::vector<std::string> names = engine_names();
          names.emplace_back("ideal");
          return names;
        }});
  c->add_option("--scale", o->what.scale, "Seconds in the graphs are multiplied by this, as 0.001")
      ->type_name("X")
      ->group("Graph");
  takes(c->add_option("--like", o->what.like,
                      "On a platform, tasks whose type names no kernel grow with cores and widths "
                      "like this one")
            ->type_name("KERNEL")
            ->group("Graph"),
        {.words = kernel_names});
  c->add_option("--widths", o->what.widths, lab::widths_meaning)->type_name("LIST")->group("Graph");
  add_comparison(*c, common);
  add_cores(*c, common);
  add_simulated(*c, common);
  add_learning(*c, common);
  add_yes(*c, o->yes);
  add_results(*c, o->out);
  c->footer(
      "Examples:\n"
      "  kilter compare cholesky:tasks=1000 --on sim:odroid-xu3 --policy all --disturb cpu@0\n"
      "  kilter compare workflow.json --on sim:haswell-16 --on sim:jetson-tx2 --scale 0.001 "
      "--policy dam-c,heft --json -\n"
      "  kilter compare workflow.json --on sim:haswell-16 --widths all --policy auto\n"
      "  kilter compare kmeans cholesky:n=20 --on sim:haswell-16 --policy all --repeat 1\n"
      "  kilter compare layered:tasks=2000 --policy rws,dam-c --disturb wave@0 --html "
      "compare.html");
  return [o] {
    o->what.common = o->common.read();
    for (const std::string& on : o->on) o->what.on.push_back(lab::read_engine("--on", on));
    std::vector<lab::experiment> all = lab::plan(o->what);
    check_outputs(o->out);
    const auto estimate = [&] {
      lab::duration expected;
      for (const lab::experiment& e : all) expected += lab::expected_duration(e);
      return expected;
    };
    if (!announce(estimate, o->yes, o->out)) return stopped;
    const std::uint64_t steps = all.size() == 1 ? lab::steps_of(all.front()) : all.size();
    std::vector<lab::comparison::planned> experiments;
    for (lab::experiment& e : all) experiments.emplace_back([e = std::move(e)] { return e; });
    lab::progress progress(steps, o->out.quiet);
    lab::comparison work(std::move(experiments), 1, progress);
    const auto deliver_known = [&] {
      const lab::comparison::outcome known = work.result();
      deliver(
          o->out, [&](bool colour) { return lab::compare_text(known, colour); },
          lab::to_document(o->what, known, o->out.how));
    };
    const auto run = [&] {
      work.run();
      progress.clear();
    };
    return run_and_deliver(run, deliver_known);
  };
}

}  // namespace kilter::cli
