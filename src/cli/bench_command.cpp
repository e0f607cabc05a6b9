#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "cli/commands.hpp"
#include "cli/deliver.hpp"
#include "cli/values.hpp"
#include "lab/measuring/experiment.hpp"

namespace kilter::cli {

namespace {

struct bench_options {
  lab::bench_arguments what;
  std::string platform;
  outputs out;
  bool no_details = false, yes = false;
};

void add_workload(CLI::App& c, const lab::workload_info& info, lab::bench_arguments& a) {
  for (const lab::parameter& p : info.parameters) {
    std::string& value = a.parameters[std::string(p.name)] = std::string(p.fallback);
    CLI::Option* o = c.add_option(p.option(), value, std::string(p.meaning))->type_name(std::string(p.type_name))->group("Workload");
    if (p.name == "kernel" || p.name == "like") takes(o, {.words = kernel_names});
    if (p.name == "file") takes(o, {.words = generator_names, .files = true});
  }
  c.add_option("--graphs", a.graphs, "Graphs run one after the other on one runtime; the later ones are warm rows")->type_name("G")->group("Workload");
  c.add_flag("--warm", a.warm, "Short for --graphs 2")->group("Workload");
}

}  // namespace

void add_comparison(CLI::App& c, lab::bench_arguments& a) {
  takes(c.add_option("--policy", a.policies, "Policies to compare, as rws,dam-c; all: every one that kilter policies lists; ./libmine.so: one of your own")
            ->type_name("LIST")->group("Comparison"), {.words = [] {
          std::vector<std::string> names = policy_names();
          names.emplace_back("all");
          return names;
        }, .list = true, .files = true});
  takes(c.add_option("--disturb", a.disturb, "Scenarios as KIND@CORES[:SHARE[,HALFPERIOD]][@FROM..TO]; + joins several; undisturbed is always added")
            ->type_name("SPEC")->group("Comparison"), {.words = disturbance_kinds});
  c.add_option("--repeat", a.repeat, "Runs of each policy in each scenario; the root's core changes with each")->type_name("R")->group("Comparison");
  c.add_option("--seed", a.seed, "Of the DAG, the order of the runs and the policies' random draws")->type_name("N")->group("Comparison");
  c.add_option("--root", a.root, "Who submits: core (each worker in turn) or outside (a thread that is none)")->type_name("WHO")->group("Comparison");
  take_fixed_words(c);
}

void add_simulated(CLI::App& c, lab::bench_arguments& a) {
  c.add_option("--co-runner", a.co_runner, "Simulated and emulated co-runners: slice (the core is theirs and ours in turn) or fluid (half of it)")
      ->type_name("HOW")->group("Machine");
  c.add_option("--thieves", a.thieves, "Simulated: of several idle workers any steals, as polling ones do, or the first, as Kilter's runtime wakes them")
      ->type_name("WHO")->group("Machine");
  c.add_option("--costs", a.costs, "Simulated: planned policies know costs as if nothing disturbed (stale), or what disturbances leave on average (true)")
      ->type_name("WHAT")->group("Machine");
  c.add_option("--fast", a.fast, "Cores that fa, fam-c, bias, cats and cats-2q take for fast (default: the fastest kind)")->type_name("CORES")->group("Machine");
  take_fixed_words(c);
}

void add_cores(CLI::App& c, lab::bench_arguments& a) {
  c.add_option("--cores", a.cores, "A count (2) or a list (0-3 or 1,); they are numbered anew from 0")->type_name("CORES")->group("Machine");
  c.add_flag("--smt", a.smt, "Every logical CPU is a core, not every physical one")->group("Machine");
  c.add_flag("--unpinned", a.unpinned, "Leave the workers to the operating system")->group("Machine");
}

namespace {

void add_machine(CLI::App& c, lab::bench_arguments& a) {
  takes(c.add_option("--on", a.on, "native: here; sim:PLATFORM: in virtual time, as sim:jetson-tx2 or sim:grid:4x8; emulate:PLATFORM[,SCALE]: the threads of the "
               "runtime, whose bodies sleep for as long as they take there, SCALE times longer (default: what the shortest task needs)")->type_name("WHERE")->group("Machine"),
        {.words = engine_names});
  add_cores(c, a);
  add_simulated(c, a);
}

std::string listed(std::span<const std::string_view> names) {
  std::string text;
  for (const std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

}  // namespace

void add_learning(CLI::App& c, lab::bench_arguments& a) {
  c.add_option("--table", a.table, "Trace table: paper (as published) or robust")->type_name("MODE")->group("Policy");
  c.add_option("--weight", a.weight, "Weight of a new sample in the papers' moving average")->type_name("A/B")->group("Policy");
  c.add_option("--timing", a.timing, "Sample of a wide task: honest, leader as published, span, or slowest or mean of its members")->type_name("MODE")->group("Policy");
  c.add_option("--criticality", a.criticality, "Critical tasks: " + listed(lab::criticality_names))->type_name("HOW")->group("Policy");
  c.add_option("--objective", a.objective, "What searches minimise: cost, time, with power figures energy and edp, or the policy's own")->type_name("WHAT")->group("Policy");
  c.add_option("--local", a.local, "Places of a local search: containing the core, or its row")->type_name("HOW")->group("Policy");
  c.add_option("--steal", a.steal, "Victims: random, richest, cluster-first")->type_name("HOW")->group("Policy");
  c.add_option("--children", a.children, "Where a task made ready waits: forward (one runs next), queue, slow-cluster")->type_name("HOW")->group("Policy");
  c.add_option("--explore", a.explore, "Untried places, in the papers' table: first; compete as if they took no time; prior: as their peers and other widths let expect")->type_name("HOW")->group("Policy");
  c.add_option("--refresh", a.refresh, "A local search takes a random place once in N times, 0: never; age: critical tasks try stale places again, within 1 % of the time (robust: always)")->type_name("N")->group("Policy");
  c.add_option("--load-table", a.load_table, "Every run begins with the trace table of that file")->type_name("FILE")->group("Policy");
  c.add_option("--cats-tries", a.cats_tries, "cats: looks into a core's own queue before it goes on to another")->type_name("N")->group("Policy");
  c.add_option("--cats-update", a.cats_update, "cats, hops: bottom levels batched, once for all tasks that come together, or each")->type_name("HOW")->group("Policy");
  c.add_flag("--cats-strict", a.cats_strict, "cats, hops: a bottom level equal to the highest so far is not critical")->group("Policy");
  c.add_flag("--cats-bidirectional", a.cats_bidirectional, "cats: slow cores take critical tasks when they find no others")->group("Policy");
  c.add_flag("--direct", a.direct, "Bind critical tasks to their place at wake-up")->group("Policy");
  take_fixed_words(c);
}

namespace {

// Not for comparisons of graphs, in which rws always takes part: two policies cannot write one file.
void add_saving(CLI::App& c, lab::bench_arguments& a) {
  c.add_option("--save-table", a.save_table, "Write the trace table as the last run leaves it; one policy only")->type_name("FILE")->group("Policy");
}

/// What follows from the options of a workload.
action measuring(std::shared_ptr<bench_options> o) {
  return [o] {
    const auto& how = o->out.how;
    const bool shown = !how.json_path.empty() || !how.html_path.empty() || !how.trace_path.empty();
    o->what.details = shown && (!o->no_details || !how.trace_path.empty());
    if (!o->platform.empty()) o->what.on = "sim:" + o->platform;
    lab::experiment e = lab::plan(o->what);
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
    o->what.workload = info.name;
    CLI::App* command = bench->add_subcommand(std::string(info.name), std::string(info.summary) + (info.native ? "" : "; not natively"));
    add_workload(*command, info, o->what);
    add_comparison(*command, o->what);
    add_machine(*command, o->what);
    add_learning(*command, o->what);
    add_saving(*command, o->what);
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
    o->what.workload = info.name;
    CLI::App* command = sim->add_subcommand(std::string(info.name), std::string(info.summary));
    takes(command->add_option("--platform", o->platform, "A name that kilter platforms lists, a file, or grid:CxN")
              ->required()->type_name("PLATFORM")->group("Machine"), {.words = platform_names, .files = true});
    command->add_option("--cores", o->what.cores, "Some of the platform's cores: a count (2) or a list (0-3 or 1,)")->type_name("CORES")->group("Machine");
    add_workload(*command, info, o->what);
    add_comparison(*command, o->what);
    add_simulated(*command, o->what);
    add_learning(*command, o->what);
    add_saving(*command, o->what);
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
