#include "claims/native_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "apps/programs/kmeans.hpp"
#include "apps/programs/network_input.hpp"
#include "apps/programs/vgg16.hpp"
#include "kilter/error.hpp"
#include "kilter/graph.hpp"
#include "words/numbers.hpp"
#include "words/suggest.hpp"
#include "workloads/dag_work.hpp"

namespace kilter::lab {

namespace {

constexpr std::uint64_t input_seed = 1;  // of inputs: all runs compute the same

constexpr std::array<native_program, 3> known_programs{
    {{"kmeans", "iterate"}, {"vgg16", "network"}, {"graph", ""}}};

std::uint64_t count_in(const selection& words, const std::string& key, std::uint64_t otherwise) {
  const auto at = words.find(key);
  return at == words.end() ? otherwise : parse_count(key, at->second, 1, 1'000'000'000);
}

template <class Sizes>
const auto& size_in(const Sizes& sizes, const selection& words) {
  const std::string& word = words.at("size");
  const auto at = std::ranges::find(sizes, word, [](const auto& s) { return s.name; });
  if (at != sizes.end()) return *at;
  std::vector<std::string_view> names;
  for (const auto& s : sizes) names.push_back(s.name);
  throw input_error(unknown_name("size", word, names));
}

/// An iteration is a batch of tasks, as S0 has it, and there are as many as the scenario says.
std::unique_ptr<apps::program> make_kmeans(const selection& words) {
  const apps::kmeans_size& size = size_in(apps::kmeans_sizes, words);
  return std::make_unique<apps::kmeans>(
      apps::drawn_points(size.points, size.dimensions, input_seed),
      apps::kmeans_options{.clusters = count_in(words, "clusters", 5),
                           .cut = apps::loop_cut::tasks,
                           .block = count_in(words, "block", size.block),
                           .most_iterations = count_in(words, "iterations", 20),
                           .least_changed = 0.0,
                           .seed = input_seed});
}

std::unique_ptr<apps::program> make_vgg16(const selection& words) {
  const apps::vgg16_size& size = size_in(apps::vgg16_sizes, words);
  apps::network n = apps::vgg16_network(size.resolution, size.divide);
  apps::draw_weights(n, input_seed);
  std::vector<float> input =
      apps::network_input(apps::drawn_picture(n.resolution, input_seed), n.resolution, n.scale);
  return std::make_unique<apps::vgg16>(
      std::move(n), std::move(input),
      apps::vgg16_options{.pictures = count_in(words, "pictures", 8),
                          .block_length = count_in(words, "block_length", 0),
                          .seed = input_seed});
}

/// As `kilter compare` runs it.
class graph_program final : public apps::program {
 public:
  graph_program(dag_work what, const machine& m)
      : what_(std::move(what)), kernels_(build_native(graph_, what_, m)) {}

  std::string about() const override { return what_.from; }
  apps::program_run run(apps::executor& how, const std::function<bool()>& stopped) override {
    const auto begin = std::chrono::steady_clock::now();
    execution all = how.tasks()->submit(graph_);
    const bool complete = apps::runs_to_its_end(all, stopped);
    const execution_stats stats = all.stats();
    return {.seconds = stats.seconds,
            .begin = begin,
            .iterations = 1,
            .tasks = stats.tasks,
            .complete = complete};
  }
  void verify() const override {}  // tests of the kernels do
  std::uint64_t fingerprint() const override { return 0; }
  std::string result_file() const override { return {}; }

 private:
  const dag_work what_;
  graph graph_;
  native_kernels kernels_;
};

}  // namespace

const native_program& program_of(const experiment_scenario& s) {
  return *std::ranges::find(known_programs, s.workload, &native_program::name);
}

std::unique_ptr<apps::program> make_program(const experiment_scenario& s, const machine& m) {
  try {
    if (s.workload == "kmeans") return make_kmeans(s.parameters);
    if (s.workload == "vgg16") return make_vgg16(s.parameters);
    return std::make_unique<graph_program>(load_dag_work(s.parameters.at("graph"), "matmul", 1.0),
                                           m);
  } catch (const input_error& error) {
    throw input_error(fmt::format("native scenario '{}': {}", s.name, error.what()));
  }
}

}  // namespace kilter::lab
