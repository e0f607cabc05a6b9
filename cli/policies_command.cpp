#include <unistd.h>

#include "cli/commands.hpp"
#include "presenting/policies.hpp"
#include "session/outputs.hpp"
#include "session/terminal.hpp"

namespace kilter::cli {

action add_policies(CLI::App& app) {
  CLI::App* policies = app.add_subcommand(
      "policies", "List the policies, what they do and where they were published");
  policies->footer("Examples:\n  kilter lab policies");
  return [] {
    lab::show(lab::policies_text(lab::colour_wanted(STDOUT_FILENO)));
    return 0;
  };
}

}  // namespace kilter::cli
