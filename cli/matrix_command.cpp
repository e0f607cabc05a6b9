#include <memory>

#include "cli/commands.hpp"
#include "cli/deliver.hpp"
#include "cli/values.hpp"
#include "presenting/matrix_output.hpp"
#include "words/join.hpp"
#include "words/numbers.hpp"

namespace kilter::cli {

namespace {

struct matrix_options {
  lab::matrix_specification what;
  std::string tasks = "10000", seeds = "5", seed = "1", threads = "2";
  outputs out;
  bool quick = false;
};

}  // namespace

action add_matrix(CLI::App& reproduce, const std::string& command_line) {
  const auto o = std::make_shared<matrix_options>();
  o->out.how.command_line = command_line;
  lab::matrix_specification& a = o->what;
  CLI::App* c = reproduce.add_subcommand(
      "matrix",
      "Every online policy on every graph, machine and disturbance, with plans beside them");
  const auto graphs = [] {
    std::vector<std::string> names;
    for (lab::matrix_graph& g : lab::matrix_graphs(1000)) names.push_back(std::move(g.name));
    return names;
  };
  const auto machines = [] {
    std::vector<std::string> names{"native"};
    for (const std::string& name : simulated_names()) names.push_back(name);
    return names;
  };
  takes(c->add_option("--graphs", a.graphs,
                      "Some of the graphs, as layered-4,cholesky (default: all)")
            ->type_name("LIST"),
        {.words = graphs, .list = true});
  takes(c->add_option("--on", a.on,
                      "Machines, as sim:jetson-tx2 or native (default: " +
                          lab::joined(lab::matrix_platforms(), ", ") + ")")
            ->type_name("LIST"),
        {.words = machines, .list = true});
  takes(c->add_option("--disturb", a.disturb,
                      "Some of none, cpu, share, wave, offline, quota (default: all; natively "
                      "none, cpu, wave, quota)")
            ->type_name("LIST"),
        {.words = lab::matrix_disturbances, .list = true});
  takes(c->add_option("--policy", a.policies,
                      "Some of the policies; rws is always there (default: all that are not "
                      "planned, and heft)")
            ->type_name("LIST"),
        {.words = policy_names, .list = true});
  c->add_option("--tasks", o->tasks, "About so many tasks in each generated graph")->type_name("N");
  c->add_option("--seeds", o->seeds, "Runs of each policy in each cell, whose median counts")
      ->type_name("N");
  c->add_option("--seed", o->seed, "The first of them")->type_name("N");
  c->add_option("--threads", o->threads, "Simulations at a time; the results do not depend on it")
      ->type_name("N");
  c->add_flag("--quick", o->quick, "2000 tasks and one seed, to see the outline");
  add_results(*c, o->out);
  c->footer(
      "Examples:\n"
      "  kilter lab reproduce matrix --html matrix.html\n"
      "  kilter lab reproduce matrix --graphs layered-4,qr --on sim:jetson-tx2,sim:server-2x32 "
      "--disturb none,cpu --policy dam-c,cats --seeds 1\n"
      "  kilter lab reproduce matrix --on native --quick");
  return [o] {
    if (o->quick) {
      o->tasks = "2000";
      o->seeds = "1";
    }
    check_outputs(o->out);
    o->what.tasks = lab::parse_count("--tasks", o->tasks, 10, 1'000'000);
    o->what.seeds =
        static_cast<std::uint32_t>(lab::parse_count("--seeds", o->seeds, 1, lab::most_repeats));
    o->what.threads = static_cast<std::uint32_t>(lab::parse_count("--threads", o->threads, 1, 256));
    o->what.seed = lab::parse_count("--seed", o->seed, 0, ~std::uint64_t{0});
    lab::matrix work(o->what, o->out.quiet);
    const auto deliver_known = [&] {
      const std::vector<lab::matrix_cell> cells = work.cells();
      deliver(
          o->out, [&](bool colour, std::size_t) { return lab::matrix_text(cells, colour); },
          lab::to_document(o->what, cells, work.outcome(), o->out.how));
    };
    return run_and_deliver([&] { work.run(); }, deliver_known);
  };
}

}  // namespace kilter::cli
