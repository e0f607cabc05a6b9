#include "cli/command_tree.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "kilter/error.hpp"
#include "words/suggest.hpp"

namespace kilter::cli {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands(
      [](const CLI::App* s) { return !s->get_name().empty() && !s->get_group().empty(); });
}

std::vector<const CLI::App*> option_groups_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* s) { return s->get_name().empty(); });
}

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  const auto shown = [](const CLI::Option* o) { return !o->get_group().empty(); };
  std::vector<const CLI::Option*> all = app.get_options(shown);
  for (const CLI::App* group : option_groups_of(app))
    std::ranges::copy_if(group->get_options(shown), std::back_inserter(all),
                         [&](const CLI::Option* o) { return o != group->get_help_ptr(); });
  return all;
}

std::vector<const CLI::Option*> accepted_by(const CLI::App& app) {
  std::vector<const CLI::Option*> all = options_of(app);
  if (!app.get_fallthrough() || !app.get_parent()) return all;
  std::ranges::copy_if(accepted_by(*app.get_parent()), std::back_inserter(all),
                       [&](const CLI::Option* o) { return o != app.get_parent()->get_help_ptr(); });
  return all;
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

std::string full_name(const CLI::App& app) {
  return app.get_parent() ? full_name(*app.get_parent()) + " " + app.get_name() : app.get_name();
}

const CLI::App& find_command(const CLI::App& root, std::span<const std::string> words) {
  const CLI::App* at = &root;
  for (const std::string& word : words) {
    const std::vector<const CLI::App*> below = commands_of(*at);
    const auto named = std::ranges::find(below, word, &CLI::App::get_name);
    if (named == below.end()) {
      if (below.empty())
        throw input_error("'" + full_name(*at) + "' has no commands, got '" + word + "'");
      const std::vector<std::string> names = [&] {
        std::vector<std::string> all;
        for (const CLI::App* s : below) all.push_back(s->get_name());
        return all;
      }();
      throw input_error(lab::unknown_name(
          "command", word, std::vector<std::string_view>(names.begin(), names.end())));
    }
    at = *named;
  }
  return *at;
}

std::string help_of(const CLI::App& app) {
  return app.get_formatter()->make_help(&app, full_name(app), CLI::AppFormatMode::Normal);
}

}  // namespace kilter::cli
