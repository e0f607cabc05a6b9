#pragma once
// What the programs of `kilter lab app` have in common. Each program has a file of its own with its
// options.

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/programs/program.hpp"
#include "apps/programs/ranks.hpp"
#include "cli/commands.hpp"
#include "cli/deliver.hpp"
#include "cli/settings.hpp"
#include "kilter/error.hpp"
#include "presenting/document.hpp"
#include "words/suggest.hpp"

namespace kilter::cli {

struct app_options {
  std::vector<std::string> models{"kilter"};
  std::string size = "small", input, output, checkpoint, record_graph;
  /// the program's command does, once all went well: it may be larger than memory
  bool writes_output_itself = false;
  worded_specification common;
  outputs out;
  /// that run the program together; this process alone
  std::shared_ptr<apps::ranks> ranks = std::make_shared<apps::ranks>();
};

/// A program made ready, and what was chosen for it.
struct made {
  std::unique_ptr<apps::program> program;
  lab::document chosen;
};

inline constexpr std::string_view program_group = "Program";
inline constexpr std::size_t most_input_mib = 1024;

/// What all programs take: models, policies, disturbances, settings, outputs.
void add_common(CLI::App&, app_options&);
/// With ranks, all of them call it; the first is the one that people and files hear of, and the one
/// that disturbs.
[[nodiscard]] int run_program(const app_options&, const std::string& name,
                              const std::function<made(std::uint64_t seed)>& make);

/// The size that --size names. input_error that names what there is.
template <class Sizes>
const auto& size_named(const Sizes& sizes, const std::string& word) {
  const auto at = std::ranges::find(sizes, word, [](const auto& s) { return s.name; });
  if (at != sizes.end()) return *at;
  std::vector<std::string_view> names;
  for (const auto& s : sizes) names.push_back(s.name);
  throw input_error(lab::unknown_name("--size", word, names));
}

/// Which of the names an option's word is. input_error that names what there is.
template <class Names>
std::uint8_t index_of(const char* option, const Names& names, const std::string& word) {
  const auto at = std::ranges::find(names, word);
  if (at == names.end()) throw input_error(lab::unknown_name(option, word, names));
  return static_cast<std::uint8_t>(at - names.begin());
}

using add_program = action(CLI::App& app, const std::string& command_line);
/// In the order of the help.
// clang-format off
#define KILTER_PROGRAMS(X) \
  X(kmeans) X(heat) X(vgg16) X(blackscholes) X(swaptions) X(fluidanimate) X(dedup) X(ferret) \
  X(facesim) X(bodytrack) X(streamcluster) X(canneal)
// clang-format on
#define KILTER_DECLARE(name) [[nodiscard]] add_program add_##name;
KILTER_PROGRAMS(KILTER_DECLARE)
#undef KILTER_DECLARE

}  // namespace kilter::cli
