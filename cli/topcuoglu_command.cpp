#include <memory>

#include "cli/commands.hpp"
#include "cli/deliver.hpp"
#include "presenting/topcuoglu_output.hpp"
#include "words/numbers.hpp"

namespace kilter::cli {

namespace {

struct topcuoglu_options {
  std::string every = "1", processors = "4", threads = "2";
  lab::topcuoglu_specification what;
  outputs out;
};

}  // namespace

action add_topcuoglu(CLI::App& reproduce, const std::string& command_line) {
  const auto o = std::make_shared<topcuoglu_options>();
  o->out.how.command_line = command_line;
  CLI::App* c = reproduce.add_subcommand(
      "topcuoglu",
      "HEFT against CPOP on Topcuoglu's 56,250 random graphs, by plan and by execution");
  c->add_option("--every", o->every, "One in K graphs; 25 leaves one of each kind")->type_name("K");
  c->add_option("--processors", o->processors, "Of the ideal machine")->type_name("N");
  c->add_option("--threads", o->threads, "Graphs at a time; the results do not depend on it")
      ->type_name("N");
  c->add_option("--json", o->out.how.json_path,
                "Write every table as JSON to this file; -: to standard output")
      ->type_name("FILE");
  c->add_flag("--quiet", o->out.quiet,
              "No progress line and no paths; with --json - nothing but JSON");
  c->footer(
      "Examples:\n"
      "  kilter lab reproduce topcuoglu --every 25\n"
      "  kilter lab reproduce topcuoglu --json topcuoglu.json");
  return [o] {
    check_outputs(o->out);
    o->what.every =
        static_cast<std::uint32_t>(lab::parse_count("--every", o->every, 1, lab::topcuoglu_graphs));
    o->what.processors =
        static_cast<std::uint32_t>(lab::parse_count("--processors", o->processors, 1, 1000));
    o->what.threads = static_cast<std::uint32_t>(lab::parse_count("--threads", o->threads, 1, 256));
    lab::topcuoglu_outcome outcome;
    const auto deliver_known = [&] {
      deliver(
          o->out, [&](bool, std::size_t) { return lab::topcuoglu_text(outcome); },
          lab::to_document(o->what, outcome, o->out.how));
    };
    return run_and_deliver([&] { outcome = lab::run_set(o->what, o->out.quiet); }, deliver_known);
  };
}

}  // namespace kilter::cli
