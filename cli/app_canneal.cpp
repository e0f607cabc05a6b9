// `app canneal`.

#include "apps/programs/canneal.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/file_text.hpp"
#include "cli/app_programs.hpp"
#include "cli/values.hpp"

namespace kilter::cli {

namespace {

using lab::document;

struct canneal_words {
  std::size_t elements = 0, tasks = 8;
  std::uint64_t steps = 0, swaps = 0;
  double temperature = 2000;
  std::string cut = "loop";
};

constexpr std::uint64_t steps_of_files = 128;
constexpr std::size_t elements_for_a_swap = 50;  // of files

made make_canneal(const app_options& o, const canneal_words& w, std::uint64_t seed) {
  const apps::canneal_size& size = size_named(apps::canneal_sizes, o.size);
  const bool drawn = o.input.empty();
  apps::canneal_options how{.tasks = w.tasks, .temperature = w.temperature, .seed = seed};
  how.cut = static_cast<apps::loop_cut>(index_of("--cut", apps::cut_names, w.cut));
  if (std::isnan(w.temperature))
    throw input_error("--temperature nan: write a finite number above 0");
  if (!o.record_graph.empty() && how.cut == apps::loop_cut::loop)
    throw input_error(
        "--record-graph: the pieces of a parallel loop are no tasks, so each step would be one; "
        "add --cut tasks");
  if (!drawn && w.elements)
    throw input_error("--elements: '" + one_line(o.input) +
                      "' says how many there are; leave it out");
  constexpr std::size_t fewest = 16;
  if (w.elements && w.elements < fewest)
    throw input_error("--elements " + std::to_string(w.elements) +
                      ": a netlist is drawn of 16 or more");
  apps::netlist n =
      drawn ? apps::drawn_netlist(w.elements ? w.elements : size.elements, seed)
            : apps::read_netlist(file_text(o.input, "netlist", most_input_mib), o.input);
  how.steps = w.steps ? w.steps : drawn ? size.steps : steps_of_files;
  how.swaps = w.swaps ? w.swaps
              : drawn ? size.swaps
                      : std::max<std::size_t>(1, n.elements() / elements_for_a_swap);
  made m;
  m.chosen = {{"size", drawn ? document(o.size) : document(nullptr)},
              {"input", drawn ? document(nullptr) : document(o.input)},
              {"elements", n.elements()},
              {"wires", n.inputs.all.size()},
              {"columns", n.columns},
              {"rows", n.rows},
              {"steps", how.steps},
              {"swaps", how.swaps},
              {"tasks", how.tasks},
              {"temperature", how.temperature},
              {"cut", w.cut}};
  m.program = std::make_unique<apps::canneal>(std::move(n), how);
  return m;
}

}  // namespace

action add_canneal(CLI::App& app, const std::string& command_line) {
  const auto o = std::make_shared<app_options>();
  const auto w = std::make_shared<canneal_words>();
  o->out.how.command_line = command_line;
  CLI::App* c =
      app.add_subcommand("canneal", "Place the elements of a netlist by simulated annealing");
  const std::string group(program_group);
  takes(c->add_option("--size", o->size,
                      "A netlist that is drawn: small (10,000 elements, 64 steps of 500 swaps), "
                      "medium (200,000, 160 of 3,000), large "
                      "(1,000,000, 250 of 8,000) or native (2,500,000, 6,000 of 15,000)")
            ->type_name("SIZE")
            ->group(group),
        one_of({"small", "medium", "large", "native"}));
  c->add_option("--input", o->input,
                "Place this netlist instead: ELEMENTS COLUMNS ROWS, then a line NAME TYPE "
                "INPUTS... END for each")
      ->type_name("FILE")
      ->group(group);
  c->add_option("--output", o->output, "Write where each element is: its name, column and row")
      ->type_name("FILE")
      ->group(group);
  c->add_option("--elements", w->elements,
                "In a netlist that is drawn, from 16 on; 0: as the size has it")
      ->type_name("N")
      ->check(CLI::Range(0, 100'000'000))
      ->group(group);
  c->add_option("--steps", w->steps, "Of temperature; 0: as the size has it, 128 for files")
      ->type_name("N")
      ->check(CLI::Range(0, 1'000'000'000))
      ->group(group);
  c->add_option("--swaps", w->swaps,
                "Tried in a step; 0: as the size has it, for files one for 50 elements")
      ->type_name("N")
      ->check(CLI::Range(0, 100'000'000))
      ->group(group);
  c->add_option("--tasks", w->tasks, "That share the swaps of a step")
      ->type_name("N")
      ->check(CLI::Range(1, 100'000))
      ->group(group);
  c->add_option("--temperature", w->temperature, "Of the first step; a third is lost in each")
      ->type_name("X")
      ->check(CLI::Range(1e-9, 1e12))
      ->group(group);
  takes(c->add_option(
             "--cut", w->cut,
             "How Kilter is given a step: loop (it chooses the pieces) or tasks (of --tasks)")
            ->type_name("WORD")
            ->group(group),
        one_of(apps::cut_names));
  add_common(*c, *o);
  c->footer(
      "Examples:\n"
      "  kilter lab app canneal --model all --disturb cpu@0\n"
      "  kilter lab app canneal --input chip.nets --steps 200 --swaps 1000 --output placed.txt\n"
      "  kilter lab app canneal --size medium --model kilter,static,omp-task --tasks 16 --repeat 5 "
      "--json -");
  return [o, w] {
    return run_program(*o, "canneal",
                       [&](std::uint64_t seed) { return make_canneal(*o, *w, seed); });
  };
}

}  // namespace kilter::cli
