// `app blackscholes`.

#include "apps/programs/blackscholes.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/file_text.hpp"
#include "cli/app_programs.hpp"
#include "cli/values.hpp"

namespace kilter::cli {

namespace {

using lab::document;

struct blackscholes_words {
  std::string cut = "loop";
  std::uint64_t runs = 0;
  std::size_t tasks = 64, block_size = 0;
};

made make_blackscholes(const app_options& o, const blackscholes_words& w, std::uint64_t seed) {
  const apps::blackscholes_size& size = size_named(apps::blackscholes_sizes, o.size);
  const std::uint64_t runs = w.runs ? w.runs : o.input.empty() ? size.runs : 100;
  const apps::blackscholes_options how{
      .cut = static_cast<apps::loop_cut>(index_of("--cut", apps::cut_names, w.cut)),
      .runs = runs,
      .tasks = w.tasks,
      .block_size = w.block_size};
  if (!o.record_graph.empty() && how.cut == apps::loop_cut::loop)
    throw input_error(
        "--record-graph: the pieces of a parallel loop are no tasks, so each run would be one; add "
        "--cut tasks");
  std::vector<apps::european_option> priced =
      o.input.empty() ? apps::drawn_options(size.options, seed)
                      : apps::read_options(file_text(o.input, "options", most_input_mib), o.input);
  made m;
  m.chosen = {{"size", o.input.empty() ? document(o.size) : document(nullptr)},
              {"input", o.input.empty() ? document(nullptr) : document(o.input)},
              {"options", priced.size()},
              {"runs", how.runs},
              {"tasks", how.block_size ? document(nullptr) : document(how.tasks)},
              {"block_size", how.block_size},
              {"cut", w.cut}};
  m.program = std::make_unique<apps::blackscholes>(std::move(priced), how);
  return m;
}

}  // namespace

action add_blackscholes(CLI::App& app, const std::string& command_line) {
  const auto o = std::make_shared<app_options>();
  const auto w = std::make_shared<blackscholes_words>();
  o->out.how.command_line = command_line;
  CLI::App* c = app.add_subcommand("blackscholes",
                                   "Price European options by the formula of Black and Scholes");
  takes(c->add_option("--size", o->size,
                      "Options that are drawn: small (10,000, 20 runs), medium (60,000, 100 runs), "
                      "large (600,000) or native (10,000,000)")
            ->type_name("SIZE")
            ->group(std::string(program_group)),
        one_of({"small", "medium", "large", "native"}));
  c->add_option(
       "--input", o->input,
       "Price these instead: spot, strike, rate, volatility, years, C or P, a line for each (CSV)")
      ->type_name("FILE")
      ->group(std::string(program_group));
  c->add_option("--output", o->output, "Write the options with their prices (CSV)")
      ->type_name("FILE")
      ->group(std::string(program_group));
  c->add_option("--runs", w->runs, "How often all are priced; 0: as the size has it, 100 for files")
      ->type_name("N")
      ->check(CLI::Range(0, 1'000'000))
      ->group(std::string(program_group));
  c->add_option("--tasks", w->tasks, "Tasks in a run, of equal lengths")
      ->type_name("N")
      ->check(CLI::Range(1, 10'000'000))
      ->group(std::string(program_group));
  c->add_option(
       "--block-size", w->block_size,
       "Options in a task, in place of --tasks; 0: off. The public code behind S1 has 1024")
      ->type_name("N")
      ->check(CLI::Range(0, 1'000'000'000))
      ->group(std::string(program_group));
  takes(c->add_option(
             "--cut", w->cut,
             "How Kilter is given a run: loop (it chooses the pieces) or tasks (one a block)")
            ->type_name("WORD")
            ->group(std::string(program_group)),
        one_of(apps::cut_names));
  add_common(*c, *o);
  c->footer(
      "Examples:\n"
      "  kilter lab app blackscholes --model all --disturb cpu@0\n"
      "  kilter lab app blackscholes --input options.csv --runs 1 --output prices.csv\n"
      "  kilter lab app blackscholes --size large --model kilter,loop-dynamic --cut tasks "
      "--block-size "
      "1024");
  return [o, w] {
    return run_program(*o, "blackscholes",
                       [&](std::uint64_t seed) { return make_blackscholes(*o, *w, seed); });
  };
}

}  // namespace kilter::cli
