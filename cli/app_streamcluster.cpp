// `app streamcluster`.

#include "apps/programs/streamcluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <utility>

#include "base/file_text.hpp"
#include "cli/app_programs.hpp"
#include "cli/values.hpp"

namespace kilter::cli {

namespace {

using lab::document;

struct streamcluster_words {
  std::size_t points = 0, blocks = 0, dimensions = 0, divisions = 8;
  std::string centres = "10..20", cut = "loop";
};

constexpr std::size_t points_of_files = 10'000;  // in a block

std::pair<std::size_t, std::size_t> read_centres(const std::string& text) {
  constexpr std::size_t most_centres = 10'000;
  std::size_t least = 0, most = 0;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, least);
  const bool two = first.ec == std::errc{} && std::string_view(first.ptr, end).starts_with("..");
  const auto second = two ? std::from_chars(first.ptr + 2, end, most) : first;
  if (!two || second.ec != std::errc{} || second.ptr != end || least < 1 || most < least ||
      most > most_centres)
    throw input_error(fmt::format(
        "--centres '{}': write LEAST..MOST, as 10..20, from 1 to {} and the larger one last",
        one_line(text), most_centres));
  return {least, most};
}

apps::point_set draw_stream(std::size_t points, std::size_t blocks, std::size_t dimensions,
                            std::uint64_t seed) {
  constexpr std::size_t most_numbers = 4'000'000'000;  // 16 GB
  if (points > most_numbers / dimensions / blocks)
    throw input_error(
        fmt::format("--points {} --blocks {} --dimensions {}: more than {} numbers in all; make "
                    "one of them smaller",
                    points, blocks, dimensions, most_numbers));
  return apps::drawn_points(points * blocks, dimensions, seed);
}

apps::point_set read_stream(const app_options& o, const streamcluster_words& w) {
  if (w.blocks || w.dimensions)
    throw input_error(fmt::format("{}: the rows of '{}' say it; leave it out",
                                  w.blocks ? "--blocks" : "--dimensions", one_line(o.input)));
  apps::point_set table = apps::read_table(file_text(o.input, "table", most_input_mib), o.input);
  apps::bring_near_one(table);
  return table;
}

made make_streamcluster(const app_options& o, const streamcluster_words& w, std::uint64_t seed) {
  const apps::streamcluster_size& size = size_named(apps::streamcluster_sizes, o.size);
  const bool drawn = o.input.empty();
  const auto [least, most] = read_centres(w.centres);
  const apps::streamcluster_options how{
      .points = w.points ? w.points
                : drawn  ? size.points
                         : points_of_files,
      .least = least,
      .most = most,
      .divisions = w.divisions,
      .cut = static_cast<apps::loop_cut>(index_of("--cut", apps::cut_names, w.cut)),
      .seed = seed};
  if (!o.record_graph.empty() && how.cut == apps::loop_cut::loop)
    throw input_error(
        "--record-graph: the pieces of a parallel loop are no tasks, so each step would be one; "
        "add --cut tasks");
  const std::size_t blocks = w.blocks ? w.blocks : size.blocks,
                    dimensions = w.dimensions ? w.dimensions : size.dimensions;
  apps::point_set stream =
      drawn ? draw_stream(how.points, blocks, dimensions, seed) : read_stream(o, w);
  made m;
  m.chosen = {{"size", drawn ? document(o.size) : document(nullptr)},
              {"input", drawn ? document(nullptr) : document(o.input)},
              {"points", how.points},
              {"rows", stream.count},
              {"dimensions", stream.dimensions},
              {"least_centres", how.least},
              {"most_centres", how.most},
              {"divisions", how.divisions},
              {"cut", w.cut}};
  m.program = std::make_unique<apps::streamcluster>(std::move(stream), how);
  return m;
}

}  // namespace

action add_streamcluster(CLI::App& app, const std::string& command_line) {
  const auto o = std::make_shared<app_options>();
  const auto w = std::make_shared<streamcluster_words>();
  o->out.how.command_line = command_line;
  CLI::App* c = app.add_subcommand("streamcluster", "Cluster a stream of points, block by block");
  const std::string group(program_group);
  takes(c->add_option("--size", o->size,
                      "A stream that is drawn: small (2 blocks of 1,000 x 16), medium (5 of 3,000 "
                      "x 64), large (4 of 16,384 x 128) or "
                      "native (5 of 200,000 x 128)")
            ->type_name("SIZE")
            ->group(group),
        one_of({"small", "medium", "large", "native"}));
  c->add_option("--input", o->input,
                "Cluster this instead: a table of numbers (CSV), whose rows are the stream")
      ->type_name("FILE")
      ->group(group);
  c->add_option("--output", o->output,
                "Write the centres, and which of them each row went to (CSV)")
      ->type_name("FILE")
      ->group(group);
  c->add_option("--points", w->points, "In a block; 0: as the size has it, 10,000 for files")
      ->type_name("N")
      ->check(CLI::Range(0, 100'000'000))
      ->group(group);
  c->add_option("--blocks", w->blocks, "In a stream that is drawn; 0: as the size has it")
      ->type_name("N")
      ->check(CLI::Range(0, 1'000'000))
      ->group(group);
  c->add_option("--dimensions", w->dimensions,
                "Numbers of a point that is drawn; 0: as the size has it")
      ->type_name("N")
      ->check(CLI::Range(0, 100'000))
      ->group(group);
  c->add_option("--centres", w->centres, "How many a block may have, and the result")
      ->type_name("LEAST..MOST")
      ->group(group);
  c->add_option("--divisions", w->divisions, "Tasks of each loop over a block")
      ->type_name("N")
      ->check(CLI::Range(1, 100'000))
      ->group(group);
  takes(c->add_option(
             "--cut", w->cut,
             "How Kilter is given a loop: loop (it chooses the pieces) or tasks (one a division)")
            ->type_name("WORD")
            ->group(group),
        one_of(apps::cut_names));
  add_common(*c, *o);
  c->footer(
      "Examples:\n"
      "  kilter lab app streamcluster --model all --disturb cpu@0\n"
      "  kilter lab app streamcluster --input readings.csv --points 5000 --centres 5..8 --output "
      "centres.csv\n"
      "  kilter lab app streamcluster --size medium --model kilter,static,omp-task --divisions 16 "
      "--repeat 5 --json -");
  return [o, w] {
    return run_program(*o, "streamcluster",
                       [&](std::uint64_t seed) { return make_streamcluster(*o, *w, seed); });
  };
}

}  // namespace kilter::cli
