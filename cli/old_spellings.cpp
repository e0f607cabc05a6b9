#include "cli/old_spellings.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>

#include "cli/command_tree.hpp"
#include "kilter/error.hpp"

namespace kilter::cli {

void add_old_platform(CLI::App& c) {
  c.add_option_function<std::string>("--platform", [](const std::string& name) {
     throw input_error(fmt::format("--platform is now --on: use --on sim:{}", name));
   })->group("");
}

std::pair<CLI::App*, action> add_old_graph(CLI::App& above) {
  struct old_words {
    std::string file = "cholesky:tasks=1000", platform;
  };
  const auto o = std::make_shared<old_words>();
  CLI::App* old = above.add_subcommand("graph")->group("")->allow_extras();
  old->set_help_flag();
  old->add_option("--file", o->file);
  old->add_option("--platform", o->platform);
  const std::string command = full_name(above);
  return {old, [o, command]() -> int {
            throw input_error(
                fmt::format("{0} graph --file GRAPH is now {0} GRAPH: use {0} {1}{2}{3}", command,
                            o->file, o->platform.empty() ? "" : " --on sim:", o->platform));
          }};
}

}  // namespace kilter::cli
