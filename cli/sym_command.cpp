#include <sys/wait.h>

#include <cstdio>
#include <memory>

#include "balance/preload/symmetry_report.hpp"
#include "child/program.hpp"
#include "cli/commands.hpp"
#include "kilter/error.hpp"
#include "session/outputs.hpp"

namespace kilter::cli {

namespace {

namespace preload = balance::preload;

struct sym_options {
  std::vector<std::string> program;
  std::string json;
  bool quiet = false;
};

int run(const sym_options& o) {
  if (o.program.empty()) throw input_error("nothing to run: give -- PROGRAM ARGS...");
  lab::check_output("--json", o.json);
  std::fflush(nullptr);
  const preload::counted_run r = preload::run_counted(o.program);
  if (r.exec_error != 0) return prefix::not_run(o.program.front(), r.exec_error);
  if (!o.quiet) lab::tell(preload::symmetry_text(r));
  if (!o.json.empty()) lab::write_output(o.json, preload::symmetry_json(r));
  return WIFEXITED(r.status) ? WEXITSTATUS(r.status) : 128 + WTERMSIG(r.status);
}

}  // namespace

action add_sym(CLI::App& app, const std::vector<std::string>& program) {
  auto o = std::make_shared<sym_options>();
  o->program = program;
  CLI::App* command = app.add_subcommand(
      "sym",
      "Run a program as it is (kilter lab sym [OPTIONS] -- PROGRAM ARGS...), and "
      "tell how alike its threads are: SymInst and SymLock");
  command
      ->add_option("--json", o->json,
                   "Write the result as JSON to this file; -: to standard output, as the last line")
      ->type_name("FILE");
  command->add_flag("--quiet", o->quiet, "Nothing on standard error but what went wrong");
  command->footer(
      "Counts pthread locks, barriers and conditions of the program itself, not of its children; "
      "what waits by other means (OpenMP, Go) is not seen.\n"
      "CPU time stands in for instructions, so on unequal cores a thread on a slow one looks "
      "longer.\n"
      "Exit status: the program's; 125 if Kilter fails, 126 if the program cannot be run, 127 if "
      "it is not found.\n"
      "Examples:\n"
      "  kilter lab sym -- ./matmul_xy 8 340 260\n"
      "  kilter lab sym --json - --quiet -- xz -T4 -k file");
  return [o] { return run(*o); };
}

}  // namespace kilter::cli
