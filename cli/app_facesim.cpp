// `app facesim`.

#include "apps/programs/facesim.hpp"

#include <memory>
#include <string>

#include "cli/app_programs.hpp"
#include "cli/values.hpp"

namespace kilter::cli {

namespace {

using lab::document;

struct facesim_words {
  std::size_t tetrahedra = 0, frames = 0, partitions = 8;
  std::string cut = "loop";
};

made make_facesim(const app_options& o, const facesim_words& w) {
  const apps::facesim_size& size = size_named(apps::facesim_sizes, o.size);
  const std::size_t tetrahedra = w.tetrahedra ? w.tetrahedra : size.tetrahedra;
  const apps::facesim_options how{
      .frames = w.frames ? w.frames : size.frames,
      .partitions = w.partitions,
      .cut = static_cast<apps::loop_cut>(index_of("--cut", apps::cut_names, w.cut))};
  if (!o.record_graph.empty() && how.cut == apps::loop_cut::loop)
    throw input_error(
        "--record-graph: the pieces of a parallel loop are no tasks, so each step would be one; "
        "add --cut tasks");
  made m;
  m.program = std::make_unique<apps::facesim>(apps::make_face(tetrahedra), how);
  m.chosen = {{"size", o.size},
              {"tetrahedra", tetrahedra},
              {"frames", how.frames},
              {"partitions", how.partitions},
              {"cut", w.cut}};
  return m;
}

}  // namespace

action add_facesim(CLI::App& app, const std::string& command_line) {
  const auto o = std::make_shared<app_options>();
  const auto w = std::make_shared<facesim_words>();
  o->out.how.command_line = command_line;
  CLI::App* c = app.add_subcommand("facesim", "Move a face by its muscles");
  takes(c->add_option("--size", o->size,
                      "Tetrahedra x frames: small (3,000 x 8), medium (20,000 x 12), large (60,000 "
                      "x 24) or native (372,126 x 100)")
            ->type_name("SIZE")
            ->group(std::string(program_group)),
        one_of({"small", "medium", "large", "native"}));
  c->add_option("--tetrahedra", w->tetrahedra,
                "How many the face has; otherwise as the size has it")
      ->type_name("N")
      ->check(CLI::Range(apps::least_face_tetrahedra, apps::most_face_tetrahedra))
      ->group(std::string(program_group));
  c->add_option("--frames", w->frames, "How many; otherwise as the size has it")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, apps::most_facesim_frames))
      ->group(std::string(program_group));
  c->add_option("--partitions", w->partitions, "Tasks of a loop")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, apps::most_facesim_partitions))
      ->group(std::string(program_group));
  takes(c->add_option(
             "--cut", w->cut,
             "How Kilter is given a loop: loop (it chooses the pieces) or tasks (one a partition)")
            ->type_name("WORD")
            ->group(std::string(program_group)),
        one_of(apps::cut_names));
  c->add_option("--output", o->output,
                "Write the surface of the last frame (OBJ, which 3D programs read)")
      ->type_name("FILE")
      ->group(std::string(program_group));
  add_common(*c, *o);
  c->footer(
      "Examples:\n"
      "  kilter lab app facesim --model all --disturb cpu@0\n"
      "  kilter lab app facesim --size medium --frames 16 --output smile.obj\n"
      "  kilter lab app facesim --size large --partitions 2 --model kilter,static --repeat 5 "
      "--json -");
  return [o, w] {
    return run_program(*o, "facesim", [&](std::uint64_t) { return make_facesim(*o, *w); });
  };
}

}  // namespace kilter::cli
