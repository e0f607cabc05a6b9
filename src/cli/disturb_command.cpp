#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <memory>

#include "cli/commands.hpp"
#include "cli/values.hpp"
#include "lab/disturbing/hold.hpp"
#include "lab/session/interrupt.hpp"
#include "lab/session/outputs.hpp"

namespace kilter::cli {

namespace {

struct disturb_options {
  std::string spec, json;
  bool smt = false, quiet = false;
};

void say(const disturb_options& o, const std::string& text) {
  if (o.json == "-")
    lab::tell(o.quiet ? "" : text);
  else
    lab::write_output("-", text);
}

int disturb(const disturb_options& o) {
  const machine here = machine::local({.smt = o.smt});
  const auto parts = lab::plan_hold(o.spec, here);
  lab::check_output("--json", o.json);
  const lab::interrupt_guard guard([] { ::_exit(stopped); });
  lab::disturber disturber(here, parts);
  if (!o.quiet) say(o, lab::hold_opening(parts, disturber));
  lab::hold(disturber, parts);
  say(o, lab::disturb_report_text(disturber.report()));
  if (!o.json.empty()) lab::write_output(o.json, lab::disturb_report_json(disturber.report()).dump(1) + "\n");
  return lab::interrupted() ? stopped : 0;
}

}  // namespace

action add_disturb(CLI::App& app) {
  auto o = std::make_shared<disturb_options>();
  CLI::App* command = app.add_subcommand("disturb", "Take performance from cores until Ctrl-C, and report how much it was");
  takes(command->add_option("SPEC", o->spec, "KIND@CORES[:SHARE[,HALFPERIOD]][@FROM..TO]; + joins several; SHARE is what is left to others")
            ->type_name("")->required(), {.words = disturbance_kinds});
  command->add_flag("--smt", o->smt, "Core numbers are those of kilter topo --smt");
  command->add_option("--json", o->json, "Write the achieved shares as JSON to this file; -: to standard output")->type_name("FILE");
  command->add_flag("--quiet", o->quiet, "Only the final report; with --json - nothing but JSON");
  command->footer("Kinds: cpu, mem, session, float (co-runners); share, wave (exact time shares). A time share is not a clock change.\n"
                  "Examples:\n"
                  "  kilter disturb cpu@0\n"
                  "  kilter disturb share@0:30%\n"
                  "  kilter disturb wave@0-1:17%,0.5@0..10 --json shares.json");
  return [o] { return disturb(*o); };
}

}  // namespace kilter::cli
