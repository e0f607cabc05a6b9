// `app bodytrack`.

#include "apps/programs/bodytrack.hpp"

#include <memory>
#include <string>

#include "cli/app_programs.hpp"
#include "cli/values.hpp"

namespace kilter::cli {

namespace {

using lab::document;

struct bodytrack_words {
  std::size_t frames = 0, particles = 0, layers = 0, width = 0, tasks = 8;
  std::string order = "in-order";
};

made make_bodytrack(const app_options& o, const bodytrack_words& w, std::uint64_t seed) {
  const apps::bodytrack_size& size = size_named(apps::bodytrack_sizes, o.size);
  const apps::bodytrack_options how{.frames = w.frames ? w.frames : size.frames,
                                    .particles = w.particles ? w.particles : size.particles,
                                    .layers = w.layers ? w.layers : size.layers,
                                    .tasks = w.tasks,
                                    .width = w.width ? w.width : size.width,
                                    .order = static_cast<apps::frames_order>(index_of(
                                        "--frames-order", apps::frames_order_names, w.order)),
                                    .seed = seed};
  made m;
  m.program = std::make_unique<apps::bodytrack>(how);
  m.chosen = {{"size", o.size},         {"frames", how.frames}, {"particles", how.particles},
              {"layers", how.layers},   {"tasks", how.tasks},   {"width", how.width},
              {"frames_order", w.order}};
  return m;
}

}  // namespace

action add_bodytrack(CLI::App& app, const std::string& command_line) {
  const auto o = std::make_shared<app_options>();
  const auto w = std::make_shared<bodytrack_words>();
  o->out.how.command_line = command_line;
  CLI::App* c =
      app.add_subcommand("bodytrack", "Follow a body through the pictures of four cameras");
  const auto number = [c](const char* option, std::size_t& to, const char* what, std::size_t least,
                          std::size_t most) {
    c->add_option(option, to, what)
        ->type_name("N")
        ->check(CLI::Range(least, most))
        ->group(std::string(program_group));
  };
  takes(c->add_option("--size", o->size,
                      "Frames x particles: small (6 x 100), medium (10 x 400), large (30 x 800) or "
                      "native (261 x 4,000)")
            ->type_name("SIZE")
            ->group(std::string(program_group)),
        one_of({"small", "medium", "large", "native"}));
  number("--frames", w->frames, "How many; otherwise as the size has it", 1,
         apps::most_bodytrack_frames);
  number("--particles", w->particles,
         "Poses that are tried at once; otherwise as the size has it. Too few lose the body", 1,
         apps::most_bodytrack_particles);
  number("--layers", w->layers,
         "How often all particles are moved in a frame; otherwise as the size has it", 1,
         apps::most_bodytrack_layers);
  number("--width", w->width, "Pixels across a picture; otherwise as the size has it",
         apps::least_picture_width, apps::most_picture_width);
  number("--tasks", w->tasks, "Blocks of particles", 1, apps::most_bodytrack_tasks);
  takes(c->add_option("--frames-order", w->order,
                      "in-order (a frame begins where the last one ended) or independent (each "
                      "begins in a known pose)")
            ->type_name("WORD")
            ->group(std::string(program_group)),
        one_of(apps::frames_order_names));
  c->add_option("--output", o->output, "Write the pose of each frame (CSV)")
      ->type_name("FILE")
      ->group(std::string(program_group));
  add_common(*c, *o);
  c->footer(
      "Examples:\n"
      "  kilter lab app bodytrack --model all --disturb cpu@0\n"
      "  kilter lab app bodytrack --size medium --frames 60 --output poses.csv\n"
      "  kilter lab app bodytrack --size large --frames-order independent --model "
      "kilter,loop-dynamic "
      "--repeat 5 --json -");
  return [o, w] {
    return run_program(*o, "bodytrack",
                       [&](std::uint64_t seed) { return make_bodytrack(*o, *w, seed); });
  };
}

}  // namespace kilter::cli
