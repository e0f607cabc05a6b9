// `app heat`.

#include "apps/programs/heat.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "base/file_text.hpp"
#include "base/installation.hpp"
#include "cli/app_programs.hpp"
#include "cli/values.hpp"
#include "session/outputs.hpp"

namespace kilter::cli {

namespace {

using lab::document;

constexpr std::size_t most_plate_mib = 9 * 1024;

struct heat_words {
  std::string blocks, layout = "rows", exchange = "overlap";
  std::uint64_t steps = 0, checkpoint_every = 100;
};

std::pair<std::size_t, std::size_t> read_blocks(const std::string& text) {
  constexpr std::size_t most_blocks = 10'000, most_in_all = 200'000;
  std::size_t rows = 0, columns = 0;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, rows);
  const bool cut = first.ec == std::errc{} && first.ptr != end && *first.ptr == 'x';
  const auto second = cut ? std::from_chars(first.ptr + 1, end, columns) : first;
  if (!cut || second.ec != std::errc{} || second.ptr != end || rows < 1 || columns < 1 ||
      rows > most_blocks || columns > most_blocks)
    throw input_error(fmt::format("--blocks '{}': write ROWSxCOLUMNS, as 8x1, each from 1 to {}",
                                  text, most_blocks));
  if (rows * columns > most_in_all)
    throw input_error(fmt::format(
        "--blocks '{}': {} blocks; at most {} are taken, as each is a task in each step", text,
        rows * columns, most_in_all));
  return {rows, columns};
}

made make_heat(const app_options& o, const heat_words& w, std::uint64_t seed) {
  const apps::heat_size& size = size_named(apps::heat_sizes, o.size);
  apps::heat_options how{.block_rows = size.block_rows,
                         .block_columns = size.block_columns,
                         .steps = w.steps ? w.steps : size.steps};
  if (!w.blocks.empty()) std::tie(how.block_rows, how.block_columns) = read_blocks(w.blocks);
  how.layout = static_cast<apps::rank_layout>(index_of("--layout", apps::layout_names, w.layout));
  how.exchange =
      static_cast<apps::exchange_order>(index_of("--exchange", apps::exchange_names, w.exchange));
  how.draws = o.output.ends_with(".png");
  if (!o.checkpoint.empty()) {
    how.checkpoint_every = w.checkpoint_every;
    how.checkpoint = [path = o.checkpoint](const apps::plate& p) {
      lab::write_output(path, apps::plate_file(p));
    };
  }
  apps::plate begin =
      o.input.empty()
          ? apps::drawn_plate(size.side, size.side, how.steps, seed)
          : apps::read_plate(file_text(o.input, "plate or picture", most_plate_mib), o.input);
  made m;
  m.chosen = {{"size", o.input.empty() ? document(o.size) : document(nullptr)},
              {"input", o.input.empty() ? document(nullptr) : document(o.input)},
              {"rows", begin.rows},
              {"columns", begin.columns},
              {"steps", how.steps},
              {"steps_before", begin.steps},
              {"block_rows", how.block_rows},
              {"block_columns", how.block_columns},
              {"ranks", o.ranks->size()},
              {"layout", w.layout},
              {"exchange", w.exchange}};
  m.program = std::make_unique<apps::heat>(std::move(begin), how, o.ranks);
  return m;
}

}  // namespace

action add_heat(CLI::App& app, const std::string& command_line) {
  const auto o = std::make_shared<app_options>();
  const auto w = std::make_shared<heat_words>();
  o->out.how.command_line = command_line;
  CLI::App* c =
      app.add_subcommand("heat", "How heat spreads in a plate, on one computer or by MPI");
  const std::string group(program_group);
  takes(c->add_option("--size", o->size,
                      "A plate of waves: small (256 x 256, 200 steps), medium (1024, 400), large "
                      "(2048, 2000) or native (16384, 100)")
            ->type_name("SIZE")
            ->group(group),
        one_of({"small", "medium", "large", "native"}));
  c->add_option("--input", o->input,
                "Begin with this: a plate that --output or --checkpoint wrote, or a PNG or PPM "
                "picture, whose bright parts are warm")
      ->type_name("FILE")
      ->group(group);
  c->add_option("--output", o->output,
                "Draw the plate in colours, if the name ends in .png; otherwise write it, to begin "
                "with it another time")
      ->type_name("FILE")
      ->group(group);
  c->add_option("--steps", w->steps,
                "Of the whole computation; 0: as the size has it, 200 for files")
      ->type_name("N")
      ->check(CLI::Range(0, 1'000'000'000))
      ->group(group);
  c->add_option(
       "--blocks", w->blocks,
       "How the part of a rank is cut, downwards and across, as 8x1; empty: as the size has it")
      ->type_name("RxC")
      ->group(group);
  takes(c->add_option("--layout", w->layout, "How ranks divide the plate: rows or grid")
            ->type_name("WORD")
            ->group(group),
        one_of(apps::layout_names));
  takes(c->add_option("--exchange", w->exchange,
                      "When ranks exchange borders: overlap (while inner blocks run) or join "
                      "(between two steps)")
            ->type_name("WORD")
            ->group(group),
        one_of(apps::exchange_names));
  c->add_option("--checkpoint", o->checkpoint,
                "Keep the plate in this file now and then; --input continues from it")
      ->type_name("FILE")
      ->group(group);
  c->add_option("--checkpoint-every", w->checkpoint_every, "Steps between two of them")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000'000))
      ->group(group);
  add_common(*c, *o);
  c->footer(
      "Examples:\n"
      "  kilter lab app heat --model all --disturb cpu@0\n"
      "  mpirun -n 4 kilter lab app heat --size large --layout grid\n"
      "  kilter lab app heat --input photo.png --steps 500 --output warm.png");
  return [o, w] {
    o->ranks = apps::join_ranks(detail::library_directories(apps::built_ranks_library));
    return run_program(*o, "heat", [&](std::uint64_t seed) { return make_heat(*o, *w, seed); });
  };
}

}  // namespace kilter::cli
