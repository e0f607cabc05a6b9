// `app fluidanimate`.

#include "apps/programs/fluidanimate.hpp"

#include <memory>
#include <string>

#include "cli/app_programs.hpp"
#include "cli/values.hpp"

namespace kilter::cli {

namespace {

using lab::document;

struct fluidanimate_words {
  std::size_t particles = 0, divisions = 32;
  std::uint64_t frames = 0;
  std::string joins = "frame", cut = "loop";
};

made make_fluidanimate(const app_options& o, const fluidanimate_words& w, std::uint64_t seed) {
  const apps::fluidanimate_size& size = size_named(apps::fluidanimate_sizes, o.size);
  const apps::fluidanimate_options how{
      .particles = w.particles ? w.particles : size.particles,
      .frames = w.frames ? w.frames : size.frames,
      .divisions = w.divisions,
      .joins =
          static_cast<apps::fluid_joins>(index_of("--joins", apps::fluid_joins_names, w.joins)),
      .cut = static_cast<apps::loop_cut>(index_of("--cut", apps::cut_names, w.cut)),
      .seed = seed};
  if (!o.record_graph.empty() && how.joins == apps::fluid_joins::phase &&
      how.cut == apps::loop_cut::loop)
    throw input_error(
        "--record-graph: the pieces of a parallel loop are no tasks, so each frame would be one; "
        "add --cut tasks");
  made m;
  m.program = std::make_unique<apps::fluidanimate>(how);
  m.chosen = {{"size", o.size},       {"particles", how.particles},
              {"frames", how.frames}, {"divisions", how.divisions},
              {"joins", w.joins},     {"cut", w.cut}};
  return m;
}

}  // namespace

action add_fluidanimate(CLI::App& app, const std::string& command_line) {
  const auto o = std::make_shared<app_options>();
  const auto w = std::make_shared<fluidanimate_words>();
  o->out.how.command_line = command_line;
  CLI::App* c = app.add_subcommand("fluidanimate", "Water behind a dam that breaks, as particles");
  const std::string group(program_group);
  takes(c->add_option("--size", o->size,
                      "Particles and frames: small (4,000, 20), medium (20,000, 40), large "
                      "(100,000, 70) or native (500,000, 500)")
            ->type_name("SIZE")
            ->group(group),
        one_of({"small", "medium", "large", "native"}));
  c->add_option("--output", o->output,
                "Write where the particles are at the end, their speeds and densities, as a point "
                "cloud (PLY)")
      ->type_name("FILE")
      ->group(group);
  c->add_option("--particles", w->particles, "How many; 0: as the size has it")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{0}, apps::most_fluid_particles))
      ->group(group);
  c->add_option("--frames", w->frames, "How many; 0: as the size has it")
      ->type_name("N")
      ->check(CLI::Range(0, 1'000'000))
      ->group(group);
  c->add_option(
       "--divisions", w->divisions,
       "Blocks of the tank, a task each in each phase: a power of two; 32 are 8 along and 4 deep")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, apps::most_fluid_divisions))
      ->group(group);
  takes(c->add_option("--joins", w->joins,
                      "When all tasks of Kilter's runtime wait for all: after each frame, or after "
                      "each phase, as under the other models")
            ->type_name("WORD")
            ->group(group),
        one_of(apps::fluid_joins_names));
  takes(c->add_option("--cut", w->cut,
                      "With --joins phase, how Kilter is given a phase: loop (it chooses the "
                      "pieces) or tasks (one a block)")
            ->type_name("WORD")
            ->group(group),
        one_of(apps::cut_names));
  add_common(*c, *o);
  c->footer(
      "Examples:\n"
      "  kilter lab app fluidanimate --model all --disturb cpu@0\n"
      "  kilter lab app fluidanimate --size medium --frames 600 --output water.ply\n"
      "  kilter lab app fluidanimate --size large --joins phase --cut tasks --model "
      "kilter,omp-task,loop-static");
  return [o, w] {
    return run_program(*o, "fluidanimate",
                       [&](std::uint64_t seed) { return make_fluidanimate(*o, *w, seed); });
  };
}

}  // namespace kilter::cli
