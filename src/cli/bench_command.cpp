#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "cli/commands.hpp"
#include "cli/deliver.hpp"
#include "cli/settings.hpp"
#include "cli/values.hpp"
#include "lab/measuring/experiment.hpp"

namespace kilter::cli {

namespace {

struct bench_options {
  std::string workload, platform;
  lab::parameter_values parameters;   // of the workload
  worded_specification what;
  outputs out;
  bool warm = false, no_details = false, yes = false;
};

void add_workload(CLI::App& c, const lab::workload_info& info, bench_options& o) {
  for (const lab::parameter& p : info.parameters) {
    std::string& value = o.parameters[std::string(p.name)] = std::string(p.fallback);
    CLI::Option* option = c.add_option(p.option(), value, std::string(p.meaning))->type_name(std::string(p.type_name))->group("Workload");
    if (p.name == "kernel" || p.name == "like") takes(option, {.words = kernel_names});
    if (p.name == "file") takes(option, {.words = generator_names, .files = true});
  }
  add_settings(c, o.what, {"graphs"});
  c.add_flag("--warm", o.warm, "Short for --graphs 2")->group("Workload");
}

void add_machine(CLI::App& c, worded_specification& w) {
  add_settings(c, w, {"on"});
  takes(c.get_option("--on"), {.words = engine_names});
  add_cores(c, w);
  add_simulated(c, w);
}

lab::specification specification_of(const bench_options& o) {
  lab::specification s = o.what.read();
  s.work = lab::make_workload(o.workload, o.parameters);
  if (o.warm) s.graphs = std::max(s.graphs, 2u);
  if (!o.platform.empty()) s.on = lab::read_engine("--on", "sim:" + o.platform);
  const auto& how = o.out.how;
  const bool shown = !how.json_path.empty() || !how.html_path.empty() || !how.trace_path.empty();
  s.details = shown && (!o.no_details || !how.trace_path.empty());
  return s;
}

/// What follows from the options of a workload.
action measuring(std::shared_ptr<bench_options> o) {
  return [o] {
    lab::experiment e = lab::plan(specification_of(*o));
    check_outputs(o->out);
    if (!announce([&] { return lab::expected_duration(e); }, o->yes, o->out)) return stopped;
    return measure_and_deliver(std::move(e), o->out);
  };
}

constexpr const char* no_details_text = "Skip the traced run of each policy and scenario that JSON and report add";

}  // namespace

action add_bench(CLI::App& app, const std::string& command_line) {
  CLI::App* bench = app.add_subcommand("bench", "Compare policies on a workload, with and without disturbances");
  bench->require_subcommand(1);
  bench->footer("Examples:\n  kilter bench layered --help\n  kilter bench kmeans --on emulate:jetson-tx2 --iterations 10 --tasks-per-iteration 12");
  std::map<CLI::App*, action> actions;
  for (const lab::workload_info& info : lab::workload_catalogue()) {
    const auto o = std::make_shared<bench_options>();
    o->out.how.command_line = command_line;
    o->workload = info.name;
    CLI::App* command = bench->add_subcommand(std::string(info.name), std::string(info.summary) + (info.native ? "" : "; not natively"));
    add_workload(*command, info, *o);
    add_comparison(*command, o->what);
    add_machine(*command, o->what);
    add_learning(*command, o->what);
    add_settings(*command, o->what, {"save_table"});  // not for comparisons of graphs, in which rws always takes part: two policies cannot write one file
    add_yes(*command, o->yes);
    add_outputs(*command, o->out);
    command->add_flag("--no-details", o->no_details, no_details_text);
    const bool layered = info.name == "layered";
    command->footer(layered ? "Examples:\n"
                             "  kilter bench layered --policy rws,dam-c --disturb cpu@0 --parallelism 2 --html report.html\n"
                             "  kilter bench layered --policy all --tasks 4000 --repeat 2 --json -\n"
                             "  kilter bench layered --kernel copy --tasks 200 --disturb wave@0:17%,0.5 --trace run.json\n"
                             "  kilter bench layered --on emulate:jetson-tx2 --tasks 1000 --policy rws,dam-c --table paper --disturb cpu@0"
                    : info.name == "graph" ? "Example:\n  kilter bench graph --file cholesky:tasks=1000 --policy rws,dam-c --disturb cpu@0"
                            : "Example:\n  kilter bench " + std::string(info.name) + " --on emulate:" +
                                  (info.name == "heat" ? "haswell-cluster" : "jetson-tx2") + " --policy rws,dam-c --repeat 1");
    actions[command] = measuring(o);
  }
  return [bench, actions] { return actions.at(bench->get_subcommands().front())(); };
}

action add_sim(CLI::App& app, const std::string& command_line) {
  CLI::App* sim = app.add_subcommand("sim", "Compare policies on a workload in virtual time, on a machine that is a platform file");
  sim->require_subcommand(1);
  sim->footer("Examples:\n  kilter sim layered --help\n  kilter sim kmeans --platform haswell-16 --policy rws,dam-p");
  std::map<CLI::App*, action> actions;
  for (const lab::workload_info& info : lab::workload_catalogue()) {
    auto o = std::make_shared<bench_options>();
    o->out.how.command_line = command_line;
    o->workload = info.name;
    CLI::App* command = sim->add_subcommand(std::string(info.name), std::string(info.summary));
    takes(command->add_option("--platform", o->platform, "A name that kilter platforms lists, a file, or grid:CxN")
              ->required()->type_name("PLATFORM")->group("Machine"), {.words = platform_names, .files = true});
    command->add_option("--cores", o->what.texts["cores"], "Some of the platform's cores: a count (2) or a list (0-3 or 1,)")->type_name("CORES")->group("Machine");
    add_workload(*command, info, *o);
    add_comparison(*command, o->what);
    add_simulated(*command, o->what);
    add_learning(*command, o->what);
    add_settings(*command, o->what, {"save_table"});  // not for comparisons of graphs, in which rws always takes part: two policies cannot write one file
    add_outputs(*command, o->out);
    command->add_flag("--no-details", o->no_details, no_details_text);
    std::string examples = "Examples:";
    for (const std::string_view example : info.examples) examples += "\n  kilter sim " + std::string(example);
    command->footer(examples);
    actions[command] = measuring(o);
  }
  return [sim, actions] { return actions.at(sim->get_subcommands().front())(); };
}

}  // namespace kilter::cli
