#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <memory>

#include "child/program.hpp"
#include "cli/commands.hpp"
#include "cli/values.hpp"
#include "disturbing/hold.hpp"
#include "kilter/error.hpp"
#include "measuring/disturbed_program.hpp"
#include "presenting/disturbed_program_output.hpp"
#include "session/interrupt.hpp"
#include "session/outputs.hpp"
#include "session/terminal.hpp"

namespace kilter::cli {

namespace {

struct disturb_options {
  std::string spec, json;
  double for_s = std::numeric_limits<double>::infinity();
  bool smt = false, quiet = false;
  lab::disturbed_program beside;  ///< the rest is for a program
};

void say(const disturb_options& o, const std::string& text) {
  if (o.json == "-")
    lab::tell(o.quiet ? "" : text);
  else
    lab::show(text);
}

int disturb(const disturb_options& o) {
  const machine here = machine::local({.smt = o.smt});
  const auto parts = lab::plan_hold(o.spec, here);
  lab::check_output("--json", o.json);
  const lab::interrupt_guard guard([] { ::_exit(stopped); });
  lab::disturber disturber(here, parts);
  const double length_s = std::min(o.for_s, lab::hold_length_s(parts));
  if (!o.quiet) say(o, lab::hold_opening(parts, length_s, disturber));
  lab::hold(disturber, length_s);
  say(o, lab::disturb_report_text(disturber.report()));
  if (!o.json.empty())
    lab::write_output(o.json, lab::disturb_report_json(disturber.report()).dump(1) + "\n");
  return lab::interrupted() ? stopped : 0;
}

/// The program's output goes through, so everything of ours but `--json -` goes to standard error.
int disturb_program(const disturb_options& o) {
  lab::check_output("--json", o.json);
  const prefix::held_signals signals;  // before any thread
  const machine here = machine::local({.smt = o.smt});
  lab::disturbed_program asked = o.beside;
  asked.disturb = o.spec;
  const lab::disturbed_result r =
      lab::run_disturbed(here, asked, signals, [&](const lab::timed_run& run) {
        if (!o.quiet) lab::tell("kilter disturb: " + lab::timed_run_text(run) + "\n");
      });
  if (!o.quiet || o.json != "-") lab::tell("kilter disturb: " + lab::disturbed_text(r));
  if (!o.json.empty()) lab::write_output(o.json, lab::disturbed_json(r));
  if (r.stopped_by != 0) return stopped;
  return r.passes() ? 0 : went_wrong;
}

void add_program_options(CLI::App& c, disturb_options& o) {
  lab::disturbed_program& p = o.beside;
  const auto option = [&](const char* name, auto& value, const char* text) {
    return c.add_option(name, value, text)->group("With -- PROGRAM ARGS...");
  };
  takes(option("--against", p.against, "Compare with this instead of with nothing")
            ->type_name("SPEC"),
        {.words = disturbance_kinds});
  option("--repeat", p.repeat, "Runs under each, in turn")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  option("--at-most", p.at_most, "End with 1 if the ratio of the medians is above this")
      ->type_name("RATIO")
      ->check([](const std::string& text) {
        double ratio = 0;
        return CLI::detail::lexical_cast(text, ratio) && ratio > 0 && ratio < 1e9
                   ? std::string()
                   : "'" + text + "' is no ratio above 0, as 1.5 is one";
      });
}

}  // namespace

action add_disturb(CLI::App& app, const std::vector<std::string>& program) {
  auto o = std::make_shared<disturb_options>();
  o->beside.program = program;
  CLI::App* command = app.add_subcommand(
      "disturb",
      "Take performance from cores until Ctrl-C, and report how much it was; or time a program "
      "under it (kilter disturb SPEC [OPTIONS] -- PROGRAM ARGS...)");
  takes(command
            ->add_option("SPEC", o->spec,
                         "KIND@CORES[:SHARE[,HALFPERIOD]][@FROM..TO]; + joins several; SHARE is "
                         "what is left to others")
            ->type_name("")
            ->required(),
        {.words = disturbance_kinds});
  command->add_flag("--smt", o->smt, "Core numbers are those of kilter topo --smt");
  command
      ->add_option_function<double>(
          "--for", [o](double s) { o->for_s = s; }, "End after so long instead of at Ctrl-C")
      ->type_name("SECONDS")
      ->check([](const std::string& text) {
        double s = 0;
        return CLI::detail::lexical_cast(text, s) && s > 0 && s < 1e8
                   ? std::string()
                   : "'" + text + "' is no number of seconds above 0, as 10 is one";
      });
  command
      ->add_option("--json", o->json,
                   "Write the achieved shares as JSON to this file; -: to standard output")
      ->type_name("FILE");
  command->add_flag("--quiet", o->quiet, "Only the final report; with --json - nothing but JSON");
  command->footer(
      fmt::format("Kinds: {}. A time share (share, wave) is not a clock change.\n",
                  lab::names_of_disturbances_on(lab::disturbed_cores::real)) +
      "With a program: run with and without the disturbance in turn; the exit status is 1 if it is "
      "too slow or fails.\n"
      "Examples:\n"
      "  kilter disturb cpu@0\n"
      "  kilter disturb share@0:30% --for 10\n"
      "  kilter disturb wave@0-1:17%,0.5@0..10 --json shares.json\n"
      "  kilter disturb cpu@0 --repeat 9 --at-most 1.5 -- ./program ARGS...");
  add_program_options(*command, *o);
  return [o, command] {
    if (!o->beside.program.empty() && command->count("--for") > 0)
      throw input_error("--for: the program's end is the disturbance's; leave it out");
    if (!o->beside.program.empty()) return disturb_program(*o);
    for (const char* const option : {"--against", "--repeat", "--at-most"})
      if (command->count(option) > 0)
        throw input_error(std::string(option) +
                          ": there is no program to run; give -- PROGRAM ARGS...");
    return disturb(*o);
  };
}

}  // namespace kilter::cli
