// `app`: real programs, run by Kilter and by what people use otherwise.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>

#include "base/file_text.hpp"
#include "cli/commands.hpp"
#include "cli/deliver.hpp"
#include "cli/settings.hpp"
#include "cli/values.hpp"
#include "kilter/error.hpp"
#include "lab/presenting/program_output.hpp"
#include "lab/session/outputs.hpp"
#include "lab/words/join.hpp"
#include "lab/words/suggest.hpp"
#include "apps/programs/kmeans.hpp"

namespace kilter::cli {

namespace {

using lab::document;

constexpr std::string_view group = "Program";
constexpr std::size_t most_input_mib = 1024;

struct app_options {
  std::vector<std::string> models{"kilter"};
  std::string size = "small", input, output;
  worded_specification common;
  outputs out;
};

/// A program made ready, and what was chosen for it.
struct made {
  std::unique_ptr<apps::program> program;
  document chosen;
};

void add_common(CLI::App& c, app_options& o) {
  takes(c.add_option("--model", o.models, fmt::format("How the work is run: some of {}; all: each", lab::joined(apps::model_names, ", ")))->type_name("LIST")
            ->group("Comparison"), {.words = [] {
          std::vector<std::string> names(apps::model_names.begin(), apps::model_names.end());
          names.emplace_back("all");
          return names;
        }, .list = true});
  takes(c.add_option("--policy", o.common.policies, "Policies of the model kilter, as auto,dam-c; all: every one that kilter policies lists; ./libmine.so: one of your own")
            ->type_name("LIST")->group("Comparison"), {.words = policy_names, .list = true, .files = true});
  takes(c.add_option("--disturb", o.common.disturb, "Scenarios as KIND@CORES[:SHARE[,HALFPERIOD]][@FROM..TO]; + joins several; undisturbed is always added")
            ->type_name("SPEC")->group("Comparison"), {.words = disturbance_kinds});
  add_settings(c, o.common, {"repeat", "seed", "cores", "smt", "load_table"});
  c.add_option("--json", o.out.how.json_path, "Write everything as JSON to this file; -: to standard output")->type_name("FILE");
  c.add_flag("--quiet", o.out.quiet, "No progress line and no paths; with --json - nothing but JSON");
}

int run_program(const app_options& o, const std::string& name, const std::function<made(std::uint64_t seed)>& make) {
  lab::program_plan plan;
  static_cast<lab::experiment&>(plan) = lab::plan(o.common.read());
  plan.name = name;
  plan.models = lab::read_models(o.models);
  check_outputs(o.out);
  lab::check_output("--output", o.output);
  if (!o.output.empty() && (o.output == o.out.how.json_path))
    throw input_error(fmt::format("--output '{}': --json writes there already; name another file", o.output));
  const made what = make(plan.seed);
  const std::string about = what.program->about();
  lab::progress progress(lab::steps_of(plan), o.out.quiet);
  lab::program_measurement work(plan, *what.program, progress);
  const auto run = [&] {
    work.run();
    progress.clear();
  };
  return run_and_deliver(run, [&] {
    const lab::program_result r = work.result();
    deliver(o.out, [&](bool colour) { return lab::program_text(plan, about, r, colour); }, lab::to_document(plan, about, what.chosen, r, o.out.how));
    if (!o.output.empty() && !r.runs.empty()) lab::write_output(o.output, what.program->result_file());
  });
}

// ---- K-means ---------------------------------------------------------------------------------------------------------

struct kmeans_words {
  std::size_t clusters = 5, block = 0;
  std::uint64_t iterations = 20;
  double changed = 0.001;
};

template <class Sizes>
const auto& size_named(const Sizes& sizes, const std::string& word) {
  const auto at = std::ranges::find(sizes, word, [](const auto& s) { return s.name; });
  if (at != sizes.end()) return *at;
  std::vector<std::string_view> names;
  for (const auto& s : sizes) names.push_back(s.name);
  throw input_error(lab::unknown_name("--size", word, names));
}

made make_kmeans(const app_options& o, const kmeans_words& w, std::uint64_t seed) {
  const apps::kmeans_size& size = size_named(apps::kmeans_sizes, o.size);
  const apps::kmeans_options how{.clusters = w.clusters, .block = w.block ? w.block : size.block, .most_iterations = w.iterations, .least_changed = w.changed, .seed = seed};
  made m;
  if (o.input.empty()) m.program = std::make_unique<apps::kmeans>(apps::drawn_points(size.points, size.dimensions, seed), how);
  else m.program = apps::read_kmeans(file_text(o.input, "picture or table", most_input_mib), o.input, how);
  m.chosen = {{"size", o.input.empty() ? document(o.size) : document(nullptr)}, {"input", o.input.empty() ? document(nullptr) : document(o.input)},
              {"clusters", how.clusters}, {"block", how.block}, {"iterations", how.most_iterations}, {"changed", how.least_changed}};
  return m;
}

action add_kmeans(CLI::App& app, const std::string& command_line) {
  const auto o = std::make_shared<app_options>();
  const auto w = std::make_shared<kmeans_words>();
  o->out.how.command_line = command_line;
  CLI::App* c = app.add_subcommand("kmeans", "Cluster points, or the colours of a picture");
  takes(c->add_option("--size", o->size, "Points that are drawn: small (20,000 x 8), medium (100,000 x 34), large (494,020 x 34) or native (1,000,000 x 34)")
            ->type_name("SIZE")->group(std::string(group)), {.words = [] { return std::vector<std::string>{"small", "medium", "large", "native"}; }});
  c->add_option("--input", o->input, "Cluster this instead: a PNG or PPM picture, or a table of numbers (CSV)")->type_name("FILE")->group(std::string(group));
  c->add_option("--output", o->output, "Write the picture in the colours of its centres (PNG), or centres and the cluster of each row (CSV)")->type_name("FILE")
      ->group(std::string(group));
  c->add_option("--clusters", w->clusters, "How many")->type_name("K")->check(CLI::Range(1, 4096))->group(std::string(group));
  c->add_option("--block", w->block, "Points in a task; 0: as the size has it, 250 for files")->type_name("N")->check(CLI::Range(0, 100'000'000))->group(std::string(group));
  c->add_option("--iterations", w->iterations, "At most so many")->type_name("N")->check(CLI::Range(1, 1'000'000))->group(std::string(group));
  c->add_option("--changed", w->changed, "End when no more than this part of the points changes its cluster")->type_name("X")->check(CLI::Range(0.0, 1.0))
      ->group(std::string(group));
  add_common(*c, *o);
  c->footer("Examples:\n"
            "  kilter app kmeans --model all --disturb cpu@0\n"
            "  kilter app kmeans --input photo.png --clusters 16 --output sixteen.png\n"
            "  kilter app kmeans --size large --model kilter,loop-dynamic,omp-task --policy auto,dam-p --repeat 5 --json -");
  return [o, w] { return run_program(*o, "kmeans", [&](std::uint64_t seed) { return make_kmeans(*o, *w, seed); }); };
}

}  // namespace

action add_app(CLI::App& root, const std::string& command_line) {
  CLI::App* app = root.add_subcommand("app", "Run a real program, by Kilter and by what people use otherwise");
  app->require_subcommand(1);
  app->footer("Each run is verified. Exit status 1: a result was wrong.\n"
              "Example:\n"
              "  kilter app kmeans --model all --disturb cpu@0");
  return add_kmeans(*app, command_line);
}

}  // namespace kilter::cli
