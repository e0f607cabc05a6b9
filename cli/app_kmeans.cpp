// `app kmeans`.

#include "apps/programs/kmeans.hpp"

#include <cmath>
#include <memory>
#include <string>

#include "base/file_text.hpp"
#include "cli/app_programs.hpp"
#include "cli/values.hpp"

namespace kilter::cli {

namespace {

using lab::document;

struct kmeans_words {
  std::size_t clusters = 5, block = 0;
  std::string cut = "loop";
  std::uint64_t iterations = 20;
  double changed = 0.001;
};

made make_kmeans(const app_options& o, const kmeans_words& w, std::uint64_t seed) {
  const apps::kmeans_size& size = size_named(apps::kmeans_sizes, o.size);
  const apps::kmeans_options how{
      .clusters = w.clusters,
      .cut = static_cast<apps::loop_cut>(index_of("--cut", apps::cut_names, w.cut)),
      .block = w.block ? w.block : size.block,
      .most_iterations = w.iterations,
      .least_changed = w.changed,
      .seed = seed};
  if (std::isnan(w.changed))
    throw input_error("--changed 'nan': write a part of the points, from 0 to 1");
  if (!o.record_graph.empty() && how.cut == apps::loop_cut::loop)
    throw input_error(
        "--record-graph: the pieces of a parallel loop are no tasks, so each iteration would be "
        "one; add --cut tasks");
  made m;
  if (o.input.empty())
    m.program =
        std::make_unique<apps::kmeans>(apps::drawn_points(size.points, size.dimensions, seed), how);
  else
    m.program =
        apps::read_kmeans(file_text(o.input, "picture or table", most_input_mib), o.input, how);
  m.chosen = {{"size", o.input.empty() ? document(o.size) : document(nullptr)},
              {"input", o.input.empty() ? document(nullptr) : document(o.input)},
              {"clusters", how.clusters},
              {"block", how.block},
              {"cut", w.cut},
              {"iterations", how.most_iterations},
              {"changed", how.least_changed}};
  return m;
}

}  // namespace

action add_kmeans(CLI::App& app, const std::string& command_line) {
  const auto o = std::make_shared<app_options>();
  const auto w = std::make_shared<kmeans_words>();
  o->out.how.command_line = command_line;
  CLI::App* c = app.add_subcommand("kmeans", "Cluster points, or the colours of a picture");
  takes(c->add_option("--size", o->size,
                      "Points that are drawn: small (20,000 x 8), medium (100,000 x 34), large "
                      "(494,020 x 34) or native (1,000,000 x 34)")
            ->type_name("SIZE")
            ->group(std::string(program_group)),
        one_of({"small", "medium", "large", "native"}));
  c->add_option("--input", o->input,
                "Cluster this instead: a PNG or PPM picture, or a table of numbers (CSV)")
      ->type_name("FILE")
      ->group(std::string(program_group));
  c->add_option("--output", o->output,
                "Write the picture in the colours of its centres (PNG), or centres and the cluster "
                "of each row (CSV)")
      ->type_name("FILE")
      ->group(std::string(program_group));
  c->add_option("--clusters", w->clusters, "How many")
      ->type_name("K")
      ->check(CLI::Range(1, 4096))
      ->group(std::string(program_group));
  c->add_option("--block", w->block, "Points in a task; 0: as the size has it, 250 for files")
      ->type_name("N")
      ->check(CLI::Range(0, 100'000'000))
      ->group(std::string(program_group));
  takes(c->add_option("--cut", w->cut,
                      "How Kilter is given an iteration: loop (it chooses the pieces) or tasks "
                      "(one a block, the largest critical)")
            ->type_name("WORD")
            ->group(std::string(program_group)),
        one_of(apps::cut_names));
  c->add_option("--iterations", w->iterations, "At most so many")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000))
      ->group(std::string(program_group));
  c->add_option("--changed", w->changed,
                "End when no more than this part of the points changes its cluster")
      ->type_name("X")
      ->check(CLI::Range(0.0, 1.0))
      ->group(std::string(program_group));
  add_common(*c, *o);
  c->footer(
      "Examples:\n"
      "  kilter lab app kmeans --model all --disturb cpu@0\n"
      "  kilter lab app kmeans --input photo.png --clusters 16 --output sixteen.png\n"
      "  kilter lab app kmeans --size large --model kilter,loop-dynamic,omp-task --policy "
      "auto,dam-p "
      "--repeat 5 --json -");
  return [o, w] {
    return run_program(*o, "kmeans", [&](std::uint64_t seed) { return make_kmeans(*o, *w, seed); });
  };
}

}  // namespace kilter::cli
