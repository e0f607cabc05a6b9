#include <memory>
#include <optional>

#include <unistd.h>

#include "cli/commands.hpp"
#include "cli/values.hpp"
#include "measuring/engine_choice.hpp"
#include "presenting/platforms.hpp"
#include "session/outputs.hpp"
#include "session/terminal.hpp"

namespace kilter::cli {

namespace {

struct platforms_options {
  std::string name, json;
};

}  // namespace

action add_platforms(CLI::App& app) {
  auto o = std::make_shared<platforms_options>();
  CLI::App* platforms = app.add_subcommand(
      "platforms",
      "List the machines that can be simulated, or every number of one with its source");
  auto* name = takes(
      platforms->add_option("NAME", o->name, "A platform of the list, a platform file, or grid:CxN")
          ->type_name(""),
      {.words = platform_names, .files = true});
  platforms
      ->add_option("--json", o->json,
                   "Write JSON to this file; -: to standard output, instead of the text")
      ->type_name("FILE");
  platforms->footer(
      "Examples:\n"
      "  kilter lab platforms\n"
      "  kilter lab platforms jetson-tx2\n"
      "  kilter lab platforms ./my-board.toml --json -");
  return [o, name] {
    lab::check_output("--json", o->json);
    std::optional<sim::platform> one;
    if (name->count() > 0)
      one =
          lab::platform_of({.platform = o->name.starts_with("sim:") ? o->name.substr(4) : o->name});
    const bool colour = lab::colour_wanted(STDOUT_FILENO);
    if (o->json != "-")
      lab::show(one ? lab::platform_text(*one, colour) : lab::platform_list_text(colour));
    if (!o->json.empty())
      lab::write_output(o->json, one ? lab::platform_json(*one) : lab::platform_list_json());
    return 0;
  };
}

}  // namespace kilter::cli
