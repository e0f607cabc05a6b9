#include <fmt/format.h>

#include <memory>

#include <unistd.h>

#include "cli/commands.hpp"
#include "cli/values.hpp"
#include "kilter/error.hpp"
#include "kilter/machine.hpp"
#include "measuring/engine_choice.hpp"
#include "presenting/topo.hpp"
#include "session/outputs.hpp"
#include "session/terminal.hpp"

namespace kilter::cli {

namespace {

struct topo_options {
  std::string xml, synthetic, on, json;
  bool smt = false;
};

machine chosen_machine(const topo_options& o) {
  const machine_options how{.smt = o.smt};
  if (!o.xml.empty()) return machine::from_xml(o.xml, how);
  if (!o.synthetic.empty()) return machine::from_synthetic(o.synthetic, how);
  if (o.on.empty()) return machine::local(how);
  const lab::engine_choice on = lab::read_engine("--on", o.on);
  if (on.ideal)
    throw input_error(fmt::format(
        "--on '{}': only a graph brings such processors; use native or sim:PLATFORM", o.on));
  if (on.native()) return machine::local(how);
  lab::check_platform(on);
  // A file that is begun has its cores before it has the figures that a run needs.
  return on.platform.starts_with("grid:") ? machine(*lab::platform_of(on).cores)
                                          : machine::from_platform(on.platform, how);
}

}  // namespace

action add_topo(CLI::App& app) {
  auto o = std::make_shared<topo_options>();
  CLI::App* topo = app.add_subcommand("topo", "Show the cores, clusters and places of a machine");
  auto* source = topo->add_option_group(
      "machine", "Whose cores (default: this computer's, as far as the process may use them)");
  source->add_option("--xml", o->xml, "An hwloc XML export")->type_name("FILE");
  source->add_option("--synthetic", o->synthetic, "An hwloc synthetic string")->type_name("TEXT");
  takes(source
            ->add_option("--on", o->on,
                         "native: here; sim:PLATFORM, as sim:jetson-tx2, sim:./mine.toml or "
                         "sim:grid:2x4: the cores that runs there have")
            ->type_name("WHERE"),
        {.words = engine_names});
  source->require_option(0, 1);
  topo->add_flag("--smt", o->smt, "Every logical CPU is a core, not every physical one");
  topo->add_option("--json", o->json,
                   "Write JSON to this file; -: to standard output, instead of the picture")
      ->type_name("FILE");
  topo->footer(
      "Examples:\n"
      "  kilter topo\n"
      "  kilter topo --on sim:jetson-tx2\n"
      "  kilter topo --synthetic 'pack:2 l3:1 core:4 pu:1' --json -");
  return [o] {
    lab::check_output("--json", o->json);
    const machine m = chosen_machine(*o);
    if (o->json != "-") lab::show(lab::topo_text(m, lab::colour_wanted(STDOUT_FILENO)));
    if (!o->json.empty()) lab::write_output(o->json, lab::topo_json(m));
    return 0;
  };
}

}  // namespace kilter::cli
