#include <memory>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/values.hpp"
#include "kilter/error.hpp"
#include "presenting/explain.hpp"
#include "session/outputs.hpp"
#include "session/terminal.hpp"
#include "words/numbers.hpp"

namespace kilter::cli {

namespace {

struct explain_options {
  std::string result, policy, json;
  std::vector<std::string> disturb;
};

}  // namespace

action add_explain(CLI::App& app) {
  auto o = std::make_shared<explain_options>();
  CLI::App* explain = app.add_subcommand(
      "explain", "Which places a recorded run avoided, when and why, from its result");
  takes(explain->add_option("RESULT", o->result, "What kilter compare wrote with --json")
            ->required()
            ->type_name(""),
        {.files = true});
  takes(explain
            ->add_option("--policy", o->policy,
                         "Only the runs of these policies, separated by commas")
            ->type_name("LIST"),
        {.words = policy_names, .list = true});
  explain
      ->add_option("--disturb", o->disturb,
                   "Only the runs under this disturbance, as written there; none: undisturbed. May "
                   "be given again")
      ->type_name("SPEC")
      ->allow_extra_args(false)
      ->default_str("");
  explain
      ->add_option("--json", o->json,
                   "Write JSON to this file; -: to standard output, instead of the text")
      ->type_name("FILE");
  explain->footer(
      "Examples:\n"
      "  kilter compare layered --on sim:grid:1x2 --policy auto,dam-c --disturb share@0:50% --json "
      "result.json\n"
      "  kilter lab explain result.json\n"
      "  kilter lab explain result.json --policy auto --disturb share@0:50% --json -");
  return [o] {
    lab::check_output("--json", o->json);
    lab::explain_choice which{.policies = {}, .disturbs = o->disturb};
    if (!o->policy.empty())
      for (const std::string_view name : lab::split_list(o->policy))
        which.policies.emplace_back(name);
    const auto runs = [&] {
      const lab::document result = lab::read_result(o->result);
      try {
        return lab::explain(result, which);
      } catch (const input_error& e) {
        throw input_error(o->result + ": " + e.what());
      }
    }();
    if (o->json != "-") lab::show(lab::explain_text(runs));
    if (!o->json.empty())
      lab::write_output(o->json, lab::document_text(lab::explain_document(runs)));
    return 0;
  };
}

}  // namespace kilter::cli
