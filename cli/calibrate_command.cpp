#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "cli/commands.hpp"
#include "cli/values.hpp"
#include "measuring/calibration.hpp"
#include "presenting/calibration_output.hpp"
#include "session/interrupt.hpp"
#include "session/outputs.hpp"
#include "session/terminal.hpp"

namespace kilter::cli {

namespace {

struct calibrate_options {
  std::string kernels = "matmul,copy,stencil,sort", tiles, cores, repeats = "5", out = "-";
  bool quiet = false;
};

int calibrate(const calibrate_options& o) {
  const lab::calibration_plan plan = lab::plan_calibration(o.kernels, o.tiles, o.repeats, o.cores);
  lab::check_output("--out", o.out);
  lab::progress progress(lab::steps_of(plan), o.quiet);
  const lab::interrupt_guard guard([] { ::_exit(stopped); });
  const lab::calibration measured = lab::calibrate(plan, progress);
  progress.clear();
  if (!measured.complete) {
    lab::tell("kilter: interrupted; nothing was written\n");
    return stopped;
  }
  lab::write_output(o.out, lab::platform_file_text(measured));
  if (!o.quiet && o.out != "-")
    lab::show(lab::calibration_text(measured) +
              fmt::format("platform: {}\n", lab::absolute_path(o.out)));
  return 0;
}

}  // namespace

action add_calibrate(CLI::App& app) {
  auto o = std::make_shared<calibrate_options>();
  CLI::App* command = app.add_subcommand(
      "calibrate",
      "Measure this computer's cores and write a platform file that kilter compare accepts");
  takes(command->add_option("--kernels", o->kernels, "What to measure: matmul, copy, stencil, sort")
            ->type_name("LIST"),
        {.words = kernel_names, .list = true});
  command
      ->add_option("--tile", o->tiles,
                   "Sizes, as matmul=64,matmul=128,copy=1024 (default: matmul 64, copy and stencil "
                   "1024, sort 65536)")
      ->type_name("LIST");
  command
      ->add_option("--cores", o->cores,
                   "A count (2) or a list (0-3 or 1,); the file has them alone")
      ->type_name("CORES");
  command
      ->add_option("--repeats", o->repeats,
                   "How often each figure is taken, in turn with all others")
      ->type_name("N");
  command
      ->add_option("--out", o->out,
                   "The platform file; -: to standard output. A file that exists is replaced")
      ->type_name("FILE");
  command->add_flag("--quiet", o->quiet, "No progress line and no table");
  command->footer(
      "The machine should do nothing else meanwhile; the file tells how far its figures spread.\n"
      "Examples:\n"
      "  kilter lab calibrate --out mine.toml\n"
      "  kilter lab calibrate --kernels matmul --tile matmul=256 --repeats 9 --out mine.toml\n"
      "  kilter compare layered --on sim:./mine.toml --policy rws,dam-c --disturb cpu@0");
  return [o] { return calibrate(*o); };
}

}  // namespace kilter::cli
