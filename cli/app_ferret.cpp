// `app ferret`.

#include "apps/programs/ferret.hpp"

#include <memory>
#include <string>
#include <vector>

#include "cli/app_programs.hpp"
#include "cli/values.hpp"

namespace kilter::cli {

namespace {

using lab::document;

struct ferret_words {
  std::string database, form = "pipeline";
  std::size_t top = 0, candidates = 0, reads = 4, slots = 0;
};

std::unique_ptr<const apps::picture_source> pictures(apps::drawn_pictures::use use,
                                                     const std::string& option,
                                                     const std::string& folder,
                                                     const apps::ferret_size& size,
                                                     std::uint64_t seed) {
  if (!folder.empty()) return std::make_unique<apps::folder_pictures>(folder, option);
  return std::make_unique<apps::drawn_pictures>(
      use, use == apps::drawn_pictures::use::database ? size.database : size.queries, size.database,
      seed);
}

made make_ferret(const app_options& o, const ferret_words& w, std::uint64_t seed) {
  const apps::ferret_size& size = size_named(apps::ferret_sizes, o.size);
  const apps::ferret_options how{
      .top = w.top ? w.top : size.top,
      .form = static_cast<apps::ferret_form>(index_of("--form", apps::ferret_form_names, w.form)),
      .reads = w.reads,
      .slots = w.slots,
      .index = {.candidates = w.candidates ? w.candidates : size.candidates},
      .seed = seed};
  auto queries = pictures(apps::drawn_pictures::use::queries, "--input", o.input, size, seed);
  auto database =
      pictures(apps::drawn_pictures::use::database, "--database", w.database, size, seed);
  const bool drawn = o.input.empty() || w.database.empty();
  made m;
  m.chosen = {{"size", drawn ? document(o.size) : document(nullptr)},
              {"input", o.input.empty() ? document(nullptr) : document(o.input)},
              {"database", w.database.empty() ? document(nullptr) : document(w.database)},
              {"queries", queries->count()},
              {"pictures", database->count()},
              {"top", how.top},
              {"candidates", how.index.candidates},
              {"form", w.form},
              {"reads", how.reads},
              {"slots", how.slots}};
  m.program = std::make_unique<apps::ferret>(std::move(database), std::move(queries), how);
  return m;
}

}  // namespace

action add_ferret(CLI::App& app, const std::string& command_line) {
  const auto o = std::make_shared<app_options>();
  const auto w = std::make_shared<ferret_words>();
  o->out.how.command_line = command_line;
  CLI::App* c = app.add_subcommand("ferret", "Find the pictures that look most like others");
  const std::string group(program_group);
  takes(c->add_option("--size", o->size,
                      "Queries and pictures that are drawn: small (24 in 200), medium (200 in "
                      "4,000), large (1,000 in 20,000) or native (3,500 in "
                      "59,695)")
            ->type_name("SIZE")
            ->group(group),
        one_of({"small", "medium", "large", "native"}));
  c->add_option("--input", o->input, "A folder whose PNG and PPM pictures are the queries")
      ->type_name("FOLDER")
      ->group(group);
  c->add_option("--database", w->database, "A folder with the pictures to find")
      ->type_name("FOLDER")
      ->group(group);
  c->add_option("--output", o->output,
                "Write which pictures were found, and how far they are (CSV)")
      ->type_name("FILE")
      ->group(group);
  c->add_option("--top", w->top, "Pictures to find for each query; 0: as the size has it")
      ->type_name("K")
      ->check(CLI::Range(0, 10'000))
      ->group(group);
  c->add_option("--candidates", w->candidates,
                "Pictures that are compared with a query, at most; 0: as the size has it")
      ->type_name("N")
      ->check(CLI::Range(0, 1'000'000))
      ->group(group);
  takes(
      c->add_option("--form", w->form,
                    "How Kilter is given the stages: pipeline, or tasks (that name what they use)")
          ->type_name("WORD")
          ->group(group),
      one_of(apps::ferret_form_names));
  c->add_option("--reads", w->reads, "With --form tasks: pictures that are read at once")
      ->type_name("N")
      ->check(CLI::Range(1, 1024))
      ->group(group);
  c->add_option("--slots", w->slots, "Queries that may be on their way at once; 0: four a thread")
      ->type_name("N")
      ->check(CLI::Range(0, 4096))
      ->group(group);
  add_common(*c, *o);
  c->footer(
      "Examples:\n"
      "  kilter lab app ferret --model all --disturb cpu@0\n"
      "  kilter lab app ferret --input new --database photos --top 5 --output alike.csv --repeat "
      "1\n"
      "  kilter lab app ferret --size large --form tasks --model kilter,task");
  return [o, w] {
    return run_program(*o, "ferret", [&](std::uint64_t seed) { return make_ferret(*o, *w, seed); });
  };
}

}  // namespace kilter::cli
