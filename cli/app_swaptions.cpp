// `app swaptions`.

#include "apps/programs/swaptions.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/app_programs.hpp"
#include "cli/values.hpp"

namespace kilter::cli {

namespace {

using lab::document;

struct swaptions_words {
  std::string cut = "loop";
  std::size_t swaptions = 0, expiry = 5, tenor = 5;
  std::uint64_t simulations = 0;
};

made make_swaptions(const app_options& o, const swaptions_words& w, std::uint64_t seed) {
  const apps::swaptions_size& size = size_named(apps::swaptions_sizes, o.size);
  const apps::swaptions_options how{
      .cut = static_cast<apps::loop_cut>(index_of("--cut", apps::cut_names, w.cut)),
      .simulations = w.simulations ? w.simulations : size.simulations,
      .seed = seed};
  if (!o.record_graph.empty() && how.cut == apps::loop_cut::loop)
    throw input_error(
        "--record-graph: the pieces of a parallel loop are no tasks, so all would be one; add "
        "--cut tasks");
  const std::size_t count = w.swaptions ? w.swaptions : size.swaptions;
  const apps::rate_model rates = apps::rising_rates((w.expiry + w.tenor) * apps::periods_a_year);
  made m;
  m.program = std::make_unique<apps::swaptions>(
      rates, apps::drawn_swaptions(count, rates, w.expiry, w.tenor, seed), how);
  m.chosen = {{"size", o.size},     {"swaptions", count}, {"simulations", how.simulations},
              {"expiry", w.expiry}, {"tenor", w.tenor},   {"cut", w.cut}};
  return m;
}

}  // namespace

action add_swaptions(CLI::App& app, const std::string& command_line) {
  const auto o = std::make_shared<app_options>();
  const auto w = std::make_shared<swaptions_words>();
  o->out.how.command_line = command_line;
  CLI::App* c =
      app.add_subcommand("swaptions", "Price swaptions by simulating how interest rates move");
  takes(c->add_option("--size", o->size,
                      "128 swaptions with simulations of each: small (1,000), medium (7,000), "
                      "large (60,000) or native (1,000,000)")
            ->type_name("SIZE")
            ->group(std::string(program_group)),
        one_of({"small", "medium", "large", "native"}));
  c->add_option("--output", o->output,
                "Write the swaptions with their prices and standard errors (CSV)")
      ->type_name("FILE")
      ->group(std::string(program_group));
  c->add_option("--swaptions", w->swaptions, "How many, each a task; 0: as the size has it")
      ->type_name("N")
      ->check(CLI::Range(0, 1'000'000))
      ->group(std::string(program_group));
  c->add_option("--simulations", w->simulations,
                "Of each swaption, at least 2; 0: as the size has it")
      ->type_name("N")
      ->check(CLI::Range(0, 1'000'000'000))
      ->group(std::string(program_group));
  const CLI::Range years(std::size_t{1}, apps::most_years);
  c->add_option("--expiry", w->expiry,
                "Years until the swaps begin; a simulation has two periods a year")
      ->type_name("YEARS")
      ->check(years)
      ->group(std::string(program_group));
  c->add_option("--tenor", w->tenor, "Years that the swaps last")
      ->type_name("YEARS")
      ->check(years)
      ->group(std::string(program_group));
  takes(c->add_option(
             "--cut", w->cut,
             "How Kilter is given the swaptions: loop (it chooses the pieces) or tasks (one each)")
            ->type_name("WORD")
            ->group(std::string(program_group)),
        one_of(apps::cut_names));
  add_common(*c, *o);
  c->footer(
      "Examples:\n"
      "  kilter lab app swaptions --model all --disturb cpu@0\n"
      "  kilter lab app swaptions --swaptions 10 --simulations 100000 --expiry 1 --tenor 2 "
      "--output "
      "prices.csv\n"
      "  kilter lab app swaptions --size large --model kilter,loop-dynamic,omp-task --repeat 5 "
      "--json "
      "-");
  return [o, w] {
    return run_program(*o, "swaptions",
                       [&](std::uint64_t seed) { return make_swaptions(*o, *w, seed); });
  };
}

}  // namespace kilter::cli
