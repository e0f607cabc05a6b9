#include <memory>
#include <utility>

#include "cli/commands.hpp"
#include "cli/deliver.hpp"
#include "cli/values.hpp"
#include "measuring/demo.hpp"
#include "words/numbers.hpp"

namespace kilter::cli {

namespace {

struct demo_options {
  lab::demo_specification what;
  std::string on = "native", repeat, seed = "1";
  outputs out;
};

}  // namespace

action add_demo(CLI::App& app, const std::string& command_line) {
  auto o = std::make_shared<demo_options>();
  o->out.how.command_line = command_line;
  o->out.how.html_path = "kilter-report.html";
  CLI::App* demo =
      app.add_subcommand("demo",
                         "The main job: the default policy and seven others, undisturbed and "
                         "beside a co-runner on core 0; about a minute and a half");
  takes(demo->add_option("--on", o->on,
                         "native: here; sim:PLATFORM: in virtual time, as sim:jetson-tx2")
            ->type_name("WHERE"),
        {.words = [] {
          std::vector<std::string> names = simulated_names();
          names.emplace_back("native");
          return names;
        }});
  demo->add_option("--cores", o->what.cores,
                   "A count (2) or a list (0-3 or 1,); they are numbered anew from 0")
      ->type_name("CORES");
  demo->add_option("--repeat", o->repeat,
                   "Runs of each policy in each scenario (default: 4, quick: 2)")
      ->type_name("R");
  demo->add_option("--seed", o->seed,
                   "Of the DAG, the order of the runs and the policies' random draws")
      ->type_name("N");
  demo->add_flag("--quick", o->what.quick, "A quarter of a minute, with wider spreads");
  add_outputs(*demo, o->out);
  demo->footer(
      "Examples:\n"
      "  kilter lab demo\n"
      "  kilter lab demo --on sim:jetson-tx2\n"
      "  kilter lab demo --quick --html /tmp/quick.html");
  return [o] {
    o->what.on = lab::read_engine("--on", o->on);
    o->what.seed = lab::parse_count("--seed", o->seed, 0, ~std::uint64_t{0});
    if (!o->repeat.empty())
      o->what.repeats =
          static_cast<std::uint32_t>(lab::parse_count("--repeat", o->repeat, 1, lab::most_repeats));
    lab::experiment e = lab::plan_demo(o->what);
    check_outputs(o->out);
    lab::calibrate_demo(e, o->what.quick);
    std::vector<lab::experiment> one;
    one.push_back(std::move(e));
    return compare_and_deliver(std::move(one), true, o->out);
  };
}

}  // namespace kilter::cli
