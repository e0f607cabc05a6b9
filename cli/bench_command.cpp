// `bench` and `sim`: one comparison, on real threads or in virtual time. Their first word is a
// workload, a command with its options, or a graph.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "cli/command_tree.hpp"
#include "cli/commands.hpp"
#include "cli/deliver.hpp"
#include "cli/old_spellings.hpp"
#include "cli/settings.hpp"
#include "cli/values.hpp"
#include "kilter/error.hpp"
#include "measuring/experiment.hpp"
#include "words/join.hpp"

namespace kilter::cli {

namespace {

struct bench_options {
  std::string command;  ///< "kilter bench layered"
  std::string workload;
  lab::parameter_values parameters;  // of the workload
  worded_specification what;
  outputs out;
  bool simulated = false;  ///< in virtual time only
  bool warm = false, no_details = false, yes = false;
};

void add_graph_word(CLI::App& c, bench_options& o) {
  std::string& word = o.parameters["file"];
  takes(c.add_option("GRAPH", word,
                     "A file, - for standard input, or a generator with its values, as "
                     "cholesky:tasks=1000; kilter graph --help lists the formats")
            ->type_name("")
            ->each([](const std::string& given) { lab::check_named(given); }),
        {.words = generator_calls, .files = true});
}

void add_workload(CLI::App& c, const lab::workload_info& info, bench_options& o) {
  for (const lab::parameter& p : info.parameters) {
    if (info.name == lab::of_graphs && p.name == "file") {
      add_graph_word(c, o);
      continue;
    }
    std::string& value = o.parameters[std::string(p.name)] = std::string(p.fallback);
    CLI::Option* option = c.add_option(p.option(), value, std::string(p.meaning))
                              ->type_name(std::string(p.type_name))
                              ->group("Workload");
    if (p.name == "kernel" || p.name == "like") takes(option, {.words = kernel_names});
  }
  add_settings(c, o.what, {"graphs"});
  c.add_flag("--warm", o.warm, "Short for --graphs 2")->group("Workload");
}

/// Of `bench`.
void add_machine(CLI::App& c, bench_options& o) {
  add_settings(c, o.what, {"on"});
  takes(c.get_option("--on"), {.words = engine_names});
  add_cores(c, o.what);
  add_yes(c, o.yes);
}

/// Of `sim`.
void add_simulated_machine(CLI::App& c, bench_options& o) {
  takes(c.add_option("--on", o.what.texts["on"],
                     "sim:PLATFORM, a name that kilter platforms lists, a file or a grid, as "
                     "sim:jetson-tx2, sim:./mine.toml, "
                     "sim:grid:4x8; or ideal, the processors that a graph brings. Must be given")
            ->type_name("WHERE")
            ->group("Machine"),
        {.words = simulated_names});
  c.add_option("--cores", o.what.texts["cores"],
               "Some of the platform's cores: a count (2) or a list (0-3 or 1,)")
      ->type_name("CORES")
      ->group("Machine");
  add_old_platform(c);
}

lab::specification specification_of(const bench_options& o) {
  const bool graph = o.workload == lab::of_graphs;
  if (graph && o.parameters.at("file").empty()) {
    // `kilter bench --on jetson-tx2`: the wrong word is told before the missing one
    if (!o.what.texts.at("on").empty()) (void)o.what.read();
    throw input_error(
        fmt::format("a workload or a graph is missing: one of {}, a file, or a generator's call, "
                    "as cholesky:n=20; see {} --help",
                    lab::joined(lab::own_names(), ", "), o.command));
  }
  if (o.simulated && o.what.texts.at("on").empty())
    throw input_error(fmt::format(
        "--on is missing: name a machine, as --on sim:jetson-tx2; see {} --help", o.command));
  lab::specification s = o.what.read();
  if (o.simulated && (s.on.native() || s.on.emulated)) {
    const std::string_view word = graph ? o.parameters.at("file") : o.workload;
    throw input_error(
        fmt::format("--on '{0}': kilter sim runs in virtual time, on sim:PLATFORM; use kilter "
                    "bench {1} --on {0}",
                    s.on.written, word));
  }
  s.work = lab::make_workload(o.workload, o.parameters);
  if (o.warm) s.graphs = std::max(s.graphs, 2u);
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

std::string bench_examples(const lab::workload_info& info) {
  if (info.name == lab::of_graphs)
    return "Examples:\n"
           "  kilter bench cholesky:tasks=1000 --policy rws,dam-c --disturb cpu@0\n"
           "  kilter bench workflow.json --scale 0.001 --widths all --policy rws,auto\n"
           "  kilter bench kmeans --on emulate:jetson-tx2 --iterations 10 --tasks-per-iteration "
           "12\n"
           "  kilter bench layered --help";
  if (info.name == "layered")
    return "Examples:\n"
           "  kilter bench layered --policy rws,dam-c --disturb cpu@0 --parallelism 2 --html "
           "report.html\n"
           "  kilter bench layered --policy all --tasks 4000 --repeat 2 --json -\n"
           "  kilter bench layered --kernel copy --tasks 200 --disturb wave@0:17%,0.5 --trace "
           "run.json\n"
           "  kilter bench layered --on emulate:jetson-tx2 --tasks 1000 --policy rws,dam-c --table "
           "paper --disturb cpu@0";
  return fmt::format("Example:\n  kilter bench {} --on emulate:{} --policy rws,dam-c --repeat 1",
                     info.name, info.name == "heat" ? "haswell-cluster" : "jetson-tx2");
}

std::string sim_examples(const lab::workload_info& info) {
  std::string all = "Examples:";
  for (const std::string_view example : info.examples)
    all += "\n  kilter sim " + std::string(example);
  if (info.name == lab::of_graphs)
    all +=
        "\n  kilter sim kmeans --on sim:haswell-16 --policy rws,dam-p\n  kilter sim layered --help";
  return all;
}

/// What stands before the word of a workload would be a graph's, and lost.
void check_nothing_before(const CLI::App& above, const CLI::App& chosen) {
  for (const CLI::Option* o : options_of(above)) {
    if (o->count() == 0) continue;
    if (o->get_positional())
      throw input_error(fmt::format("'{}' and '{}': {} takes one workload or graph",
                                    o->as<std::string>(), chosen.get_name(), full_name(above)));
    throw input_error(fmt::format("{} stands before '{}'; write {} and then the options",
                                  o->get_name(), chosen.get_name(), full_name(chosen)));
  }
}

action add_measuring(CLI::App& above, bool simulated, const std::string& command_line) {
  above.require_subcommand(0, 1);
  std::map<const CLI::App*, action> actions;
  for (const lab::workload_info& info : lab::workload_catalogue()) {
    const bool graph = info.name == lab::of_graphs;
    CLI::App* command =
        graph ? &above
              : above.add_subcommand(
                    std::string(info.name),
                    std::string(info.summary) + (simulated || info.native ? "" : "; not natively"));
    const auto o = std::make_shared<bench_options>();
    o->command = full_name(*command);
    o->out.how.command_line = command_line;
    o->workload = info.name;
    o->simulated = simulated;
    add_workload(*command, info, *o);
    add_comparison(*command, o->what);
    (simulated ? add_simulated_machine : add_machine)(*command, *o);
    add_simulated(*command, o->what);
    add_learning(*command, o->what);
    // not for comparisons of graphs, in which rws always takes part: two policies cannot write one
    // file
    add_settings(*command, o->what, {"save_table"});
    add_outputs(*command, o->out);
    command->add_flag("--no-details", o->no_details,
                      "Skip the traced run of each policy and scenario that JSON and report add");
    command->footer(simulated ? sim_examples(info) : bench_examples(info));
    if (graph)
      // the graph may stand behind them
      for (const char* several : {"--policy", "--disturb"})
        command->get_option(several)->allow_extra_args(false);
    actions[command] = measuring(o);
  }
  actions.insert(add_old_graph(above));
  return [&above, actions] {
    const auto chosen = above.get_subcommands();
    if (chosen.empty()) return actions.at(&above)();
    check_nothing_before(above, *chosen.front());
    return actions.at(chosen.front())();
  };
}

}  // namespace

action add_bench(CLI::App& app, const std::string& command_line) {
  return add_measuring(
      *app.add_subcommand(
          "bench", "Compare policies on a workload or a graph, with and without disturbances"),
      false, command_line);
}

action add_sim(CLI::App& app, const std::string& command_line) {
  return add_measuring(*app.add_subcommand("sim",
                                           "Compare policies on a workload or a graph in virtual "
                                           "time, on a machine that is a platform file"),
                       true, command_line);
}

}  // namespace kilter::cli
