// `kilter compare`: policies against one another, on real threads or in virtual time. The options
// stand here once; a workload is a command below with its parameters alone.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "cli/command_tree.hpp"
#include "cli/commands.hpp"
#include "cli/deliver.hpp"
#include "cli/settings.hpp"
#include "cli/values.hpp"
#include "kilter/error.hpp"
#include "measuring/compare.hpp"
#include "words/join.hpp"

namespace kilter::cli {

namespace {

struct compare_options {
  lab::compare_specification what;
  std::vector<std::string> on;
  std::map<std::string, lab::parameter_values> parameters;  // by workload
  worded_specification common;
  outputs out;
  bool warm = false, no_details = false, yes = false;
};

void add_graphs(CLI::App& c, compare_options& o) {
  takes(c.add_option("GRAPH", o.what.graphs,
                     "Files, - for standard input, and generators with their values, as "
                     "cholesky:tasks=1000; kilter graph --help lists the formats")
            ->type_name("")
            ->default_str(""),
        {.words = generator_calls, .files = true});
  c.add_option("--scale", o.what.scale, "Seconds in the graphs are multiplied by this, as 0.001")
      ->type_name("X")
      ->group("Graph");
  takes(c.add_option("--like", o.what.like,
                     "On a platform, tasks whose type names no kernel grow with cores and widths "
                     "like this one")
            ->type_name("KERNEL")
            ->group("Graph"),
        {.words = kernel_names});
  c.add_option("--widths", o.what.widths, lab::widths_meaning)->type_name("LIST")->group("Graph");
  add_settings(c, o.common, {"graphs"});
  c.add_flag("--warm", o.warm, "Short for --graphs 2")->group("Workload");
}

void add_machine(CLI::App& c, compare_options& o) {
  takes(c.add_option("--on", o.on,
                     "native, sim:PLATFORM, emulate:PLATFORM[,SCALE] or ideal, the processors "
                     "that the graph brings; several are run in turn "
                     "(default: ideal if there are processors, else native)")
            ->type_name("WHERE")
            ->allow_extra_args(false)
            ->default_str("")
            ->group("Machine"),
        {.words = [] {
          std::vector<std::string> names = engine_names();
          names.emplace_back("ideal");
          return names;
        }});
  add_cores(c, o.common);
}

/// Options that it does not have are those of `kilter compare`.
void add_workload(CLI::App& above, const lab::workload_info& info, compare_options& o) {
  CLI::App* c = above.add_subcommand(
      std::string(info.name), std::string(info.summary) + (info.native ? "" : "; not natively"));
  c->fallthrough();
  lab::parameter_values& values = o.parameters[std::string(info.name)];
  for (const lab::parameter& p : info.parameters) {
    std::string& value = values[std::string(p.name)] = std::string(p.fallback);
    CLI::Option* option = c->add_option(p.option(), value, std::string(p.meaning))
                              ->type_name(std::string(p.type_name))
                              ->group("Workload");
    if (p.name == "kernel" || p.name == "like") takes(option, {.words = kernel_names});
  }
  std::string footer =
      "All options of kilter compare are taken too; kilter compare --help lists them.\nExamples:";
  for (const std::string_view example : info.examples)
    footer += fmt::format("\n  kilter compare {}", example);
  c->footer(footer);
}

void check_graph_options(const lab::compare_specification& s) {
  if (!s.graphs.empty()) return;
  const lab::compare_specification usual;
  for (const auto& [option, given, fallback] : {std::tuple{"--scale", &s.scale, &usual.scale},
                                                {"--like", &s.like, &usual.like},
                                                {"--widths", &s.widths, &usual.widths}})
    if (*given != *fallback)
      throw input_error(
          fmt::format("{} '{}' is for graphs, and '{}' is a workload; leave one of them out",
                      option, *given, s.workload));
}

lab::compare_specification specification_of(const compare_options& o, const CLI::App& command) {
  lab::compare_specification s = o.what;
  for (const std::string& on : o.on) s.on.push_back(lab::read_engine("--on", on));
  s.common = o.common.read();
  if (o.warm) s.common.graphs = std::max(s.common.graphs, 2u);
  if (const auto chosen = command.get_subcommands(); !chosen.empty()) {
    s.workload = chosen.front()->get_name();
    s.parameters = o.parameters.at(s.workload);
    check_graph_options(s);
  } else if (s.graphs.empty()) {
    throw input_error(
        fmt::format("a workload or a graph is missing: one of {}, a file, or a generator's call, "
                    "as cholesky:n=20; see kilter compare --help",
                    lab::joined(lab::own_names(), ", ")));
  }
  const auto& how = o.out.how;
  const bool shown = !how.json_path.empty() || !how.html_path.empty() || !how.trace_path.empty();
  s.common.details = shown && (!o.no_details || !how.trace_path.empty());
  return s;
}

}  // namespace

action add_compare(CLI::App& app, const std::string& command_line) {
  const auto o = std::make_shared<compare_options>();
  o->out.how.command_line = command_line;
  o->common.policies = {"rws,auto"};
  o->common.rest.repeats = 3;
  CLI::App* c = app.add_subcommand(
      "compare",
      "Compare policies on workloads and graphs, here or on a simulated machine, against a bound");
  c->require_subcommand(0, 1);
  add_graphs(*c, *o);
  add_comparison(*c, o->common);
  // a graph may stand behind them
  for (const char* several : {"--policy", "--disturb"})
    c->get_option(several)->allow_extra_args(false);
  add_machine(*c, *o);
  add_simulated(*c, o->common);
  add_learning(*c, o->common);
  add_settings(*c, o->common, {"save_table"});
  add_yes(*c, o->yes);
  add_outputs(*c, o->out);
  c->add_flag("--no-details", o->no_details,
              "Skip the traced run of each policy and scenario that JSON and report of a single "
              "experiment add");
  for (const lab::workload_info& info : lab::workload_catalogue())
    if (info.name != lab::of_graphs) add_workload(*c, info, *o);
  c->footer(
      "Where two policies or more are compared, rws is among them.\n"
      "Examples:\n"
      "  kilter compare layered --policy rws,dam-c --disturb cpu@0 --html report.html\n"
      "  kilter compare cholesky:tasks=1000 --on sim:odroid-xu3 --policy all --disturb cpu@0\n"
      "  kilter compare workflow.json --on sim:haswell-16 --on sim:jetson-tx2 --scale 0.001 "
      "--policy dam-c,heft --json -\n"
      "  kilter compare kmeans cholesky:n=20 --on sim:haswell-16 --policy all --repeat 1\n"
      "  kilter compare layered --help");
  return [o, c] {
    std::vector<lab::experiment> all = lab::plan(specification_of(*o, *c));
    if (all.size() > 1 && !o->out.how.trace_path.empty())
      throw input_error(
          fmt::format("--trace: {} experiments would write one file; give one graph on one machine",
                      all.size()));
    return compare_and_deliver(std::move(all), o->yes, o->out);
  };
}

}  // namespace kilter::cli
