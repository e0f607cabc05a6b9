// The parameters of each workload, from text.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "apps/kernels.hpp"
#include "graph/dag_limits.hpp"
#include "graph/generator.hpp"
#include "graph_files/dag_source.hpp"
#include "kilter/error.hpp"
#include "words/join.hpp"
#include "words/numbers.hpp"
#include "words/suggest.hpp"
#include "workloads/workload.hpp"

namespace kilter::lab {

namespace {

constexpr std::string_view default_mix = "matmul=64,sort=65536,copy=2048";

/// Values with the defaults filled in; errors name the option.
class reader {
 public:
  reader(const workload_info& info, const parameter_values& given) : info_(info), given_(given) {}

  [[nodiscard]] std::string text(std::string_view name) const {
    const auto at = given_.find(name);
    return at != given_.end() && !at->second.empty() ? at->second
                                                     : std::string(described(name).fallback);
  }
  [[nodiscard]] std::string option(std::string_view name) const { return described(name).option(); }

  template <class T = std::uint32_t>
  [[nodiscard]] T count(std::string_view name, std::uint64_t smallest,
                        std::uint64_t largest) const {
    return static_cast<T>(parse_count(option(name), text(name), smallest, largest));
  }
  /// A number with decimals.
  [[nodiscard]] double number(std::string_view name, double smallest, double largest) const {
    return decimal(name, text(name), fmt::format("a number from {:g} to {:g}", smallest, largest),
                   smallest, largest);
  }
  /// Above 0, also as 1e-3.
  [[nodiscard]] double positive(std::string_view name) const {
    const std::string all = text(name);
    double value = 0.0;
    const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), value);
    if (error != std::errc{} || end != all.data() + all.size() ||
        !(value >= 1e-12 && value <= 1e12))
      throw input_error(
          fmt::format("{} '{}': expected a number above 0, as 0.001 or 1e-3", option(name), all));
    return value;
  }
  /// "25%" as 0.25.
  [[nodiscard]] double percentage(std::string_view name) const {
    const std::string all = text(name);
    constexpr const char* wanted = "a percentage from 0% to 100%";
    if (!all.ends_with('%'))
      throw input_error(fmt::format("{} '{}': expected {}", option(name), all, wanted));
    return decimal(name, all, wanted, 0.0, 100.0) / 100.0;
  }

 private:
  [[nodiscard]] const parameter& described(std::string_view name) const {
    return *std::ranges::find_if(info_.parameters,
                                 [&](const parameter& p) { return p.name == name; });
  }
  [[nodiscard]] double decimal(std::string_view name, std::string_view all, std::string_view wanted,
                               double smallest, double largest) const {
    const std::string_view digits = all.ends_with('%') ? all.substr(0, all.size() - 1) : all;
    double value = 0.0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value,
                                              std::chars_format::fixed);
    if (error != std::errc{} || end != digits.data() + digits.size() ||
        !(value >= smallest && value <= largest))
      throw input_error(fmt::format("{} '{}': expected {}", option(name), all, wanted));
    return value;
  }

  const workload_info& info_;
  const parameter_values& given_;
};

std::string known_kernel(std::string_view name) {
  const auto known = apps::kernel_names();
  return std::string(known[parse_choice("kernel", name, known)]);
}

std::uint32_t checked_tile(std::string_view option, std::string_view kernel,
                           std::string_view text) {
  const bool sort = kernel == "sort";
  const auto tile =
      static_cast<std::uint32_t>(parse_count(option, text, 1, sort ? most_sort_keys : most_tile));
  if (kernel == "stencil" && tile < 3)
    throw input_error(fmt::format("{} {}: the stencil needs a tile of 3 or more", option, tile));
  if (sort && tile % 4 != 0)
    throw input_error(fmt::format(
        "{} {}: sort cuts its keys into quarters, so give a multiple of 4", option, tile));
  return tile;
}

workload make_layered(const parameter_values& given) {
  const reader r(find_workload("layered"), given);
  layered_work l;
  l.kernel = known_kernel(r.text("kernel"));
  const std::string tile = r.text("tile"), tasks = r.text("tasks");
  l.tile =
      tile.empty() ? apps::default_tile(l.kernel) : checked_tile(r.option("tile"), l.kernel, tile);
  l.sweeps = r.count("sweeps", 1, 1000);
  if (l.sweeps != 1 && l.kernel != "stencil")
    throw input_error(
        fmt::format("--sweeps {}: only the stencil has sweeps, not {}", l.sweeps, l.kernel));
  l.shape.tasks =
      tasks.empty() ? default_tasks(l.kernel) : r.count<std::uint64_t>("tasks", 1, most_tasks);
  l.shape.parallelism = r.count("parallelism", 1, 1'000'000);
  if (l.shape.parallelism > l.shape.tasks)
    throw input_error(fmt::format("--parallelism {}: there are only {} tasks (--tasks)",
                                  l.shape.parallelism, l.shape.tasks));
  return l;
}

workload make_random(const parameter_values& given) {
  const reader r(find_workload("random"), given);
  random_dag d;
  const std::string kernel = r.text("kernel"), tile = r.text("tile");
  if (kernel == "mix") {
    d.kernels = parse_sized_kernels("--tile", tile.empty() ? default_mix : std::string_view(tile));
  } else {
    std::vector<std::string_view> known(apps::kernel_names().begin(), apps::kernel_names().end());
    known.push_back("mix");
    (void)parse_choice("kernel", kernel, known);
    const std::uint32_t own = kernel == "copy" ? 2048 : apps::default_tile(kernel);
    d.kernels = {{kernel, tile.empty() ? own : checked_tile("--tile", kernel, tile)}};
  }
  d.tasks = r.count("tasks", 1, most_random_tasks);
  d.parallelism = r.count("parallelism", 1, most_random_tasks);
  d.edge_rate = r.percentage("edge_rate");
  if (d.parallelism > d.tasks)
    throw input_error(
        fmt::format("--parallelism {}: there are only {} tasks (--tasks)", d.parallelism, d.tasks));
  return d;
}

workload make_kmeans(const parameter_values& given) {
  const reader r(find_workload("kmeans"), given);
  kmeans k;
  k.points = r.count<std::uint64_t>("points", 1, 1'000'000'000'000);
  k.features = r.count("features", 1, 1'000'000);
  k.clusters = r.count("clusters", 1, 1'000'000);
  k.iterations = r.count("iterations", 1, 1'000'000);
  k.tasks_per_iteration = r.count("tasks_per_iteration", 1, 4096);
  k.critical_factor = r.number("critical_factor", 1.0, 1000.0);
  if (k.points < k.tasks_per_iteration)
    throw input_error(fmt::format("--tasks-per-iteration {}: there are only {} points (--points)",
                                  k.tasks_per_iteration, k.points));
  return k;
}

workload make_heat(const parameter_values& given) {
  const reader r(find_workload("heat"), given);
  heat h;
  h.rows = r.count("rows", 1, 1u << 24);
  h.columns = r.count("columns", 1, 1u << 24);
  h.ranks = r.count("ranks", 1, 1024);
  h.tasks_per_rank = r.count("tasks_per_rank", 1, 4096);
  h.iterations = r.count("iterations", 1, 1'000'000);
  h.apart = parse_choice(r.option("nodes"), r.text("nodes"),
                         std::array<std::string_view, 2>{"shared", "apart"}) == 1;
  if (std::uint64_t{h.ranks} * h.tasks_per_rank > h.rows)
    throw input_error(
        fmt::format("--rows {}: {} ranks of {} tasks need at least {}, one for each task", h.rows,
                    h.ranks, h.tasks_per_rank, std::uint64_t{h.ranks} * h.tasks_per_rank));
  return h;
}

workload make_vgg(const parameter_values& given) {
  const reader r(find_workload("vgg"), given);
  vgg16 v;
  v.input = r.count("input", 32, 4096);
  v.block_length = r.count("block_length", 1, 4096);
  v.chains = parse_choice(r.option("tasks_of_block"), r.text("tasks_of_block"),
                          std::array<std::string_view, 2>{"one", "chain"}) == 1;
  if (v.input % 32 != 0)
    throw input_error(fmt::format(
        "--input {}: the picture is halved five times, so give a multiple of 32", v.input));
  return v;
}

workload make_graph(const parameter_values& given) {
  const reader r(find_workload("graph"), given);
  return load_dag_work(r.text("file"), r.text("like"), r.positive("scale"), r.text("widths"));
}

// In the order of the variant's alternatives.
const std::vector<workload_info>& catalogue() {
  static const std::vector<workload_info> all{
      {"layered",
       "The papers' layered DAG: one task of each layer releases the next layer",
       {{"kernel", "matmul", "NAME", "What a task does: matmul, copy, stencil, sort"},
        {"tile", "", "N",
         "Side of the tile, for sort number of keys (default: matmul 64, copy and stencil 1024, "
         "sort 65536)"},
        {"sweeps", "1", "N", "Updates of the tile in one task, stencil only"},
        {"tasks", "", "N",
         "Tasks, the root included (default: matmul 32000, copy 10000, stencil 20000, sort 1000)"},
        {"parallelism", "4", "P", "Tasks in a layer; one of them is critical"}},
       {"layered --on sim:jetson-tx2 --policy all --table paper --disturb cpu@0 --parallelism 2",
        "layered --on sim:jetson-tx2 --kernel copy --policy rws,dam-c --disturb freq@0-1:17%,5 "
        "--html report.html",
        "layered --on sim:grid:32x32 --tasks 1000000 --parallelism 2048 --repeat 1"},
       make_layered,
       true},
      {"random",
       "Random DAGs in levels, of one kernel or a mix; no task is marked critical",
       {{"kernel", "mix", "NAME",
         "What a task does: matmul, copy, stencil, sort, or mix: as many tasks of each kernel that "
         "--tile names"},
        {"tile", "", "SIZE",
         "Side of the tile, for sort number of keys; of a mix: for each kernel (default: "
         "matmul=64,sort=65536,copy=2048; stencil 1024)"},
        {"tasks", "4000", "N", "All tasks, at most 50000"},
        {"parallelism", "16", "L",
         "Mean width of a level: the DAG's parallelism if the edge rate is 100%"},
        {"edge_rate", "100%", "P%",
         "How likely a task of the 200 before a level becomes a parent, if it is no ancestor yet"}},
       {"random --on sim:jetson-tx2 --policy rws,perf --criticality chain --parallelism 4 --table "
        "paper",
        "random --on sim:haswell-20 --kernel copy --tasks 1000 --policy rws,dam-c --criticality "
        "chain --disturb cpu@0-1"},
       make_random,
       true},
      {"kmeans",
       "K-means: iterations that wait for each other, of tasks of which the largest is critical",
       {{"points", "494020", "N", "Points to be clustered"},
        {"features", "34", "N", "Coordinates of a point"},
        {"clusters", "5", "K", "Clusters"},
        {"iterations", "60", "N", "Iterations"},
        {"tasks_per_iteration", "32", "N", "Tasks of one iteration"},
        {"critical_factor", "1.25", "F",
         "Points of the critical task of an iteration over those of another"}},
       {"kmeans --on sim:haswell-16 --policy rws,rwsm-c,da,dam-c,dam-p --table paper --disturb "
        "cpu@0-7@25%..75%",
        "kmeans --on sim:jetson-tx2 --iterations 20 --tasks-per-iteration 12 --policy rws,dam-p"},
       make_kmeans},
      {"heat",
       "Distributed 2D heat: blocks of rows, and one exchange of borders for each rank and "
       "iteration, which is critical",
       {{"rows", "16384", "N", "Rows of the grid, dealt to the ranks in stripes"},
        {"columns", "16384", "N", "Columns of the grid"},
        {"ranks", "4", "N", "Ranks; for several the platform must have a network"},
        {"tasks_per_rank", "40", "N", "Blocks of rows of one rank"},
        {"iterations", "100", "N", "Iterations"},
        {"nodes", "shared", "HOW",
         "shared: one runtime has all nodes; apart: each rank has a node, a runtime and a table of "
         "its own"}},
       {"heat --on sim:haswell-cluster --nodes apart --policy rws,rwsm-c,da,dam-c,dam-p --table "
        "paper --disturb cpu@0-4",
        "heat --on sim:haswell-cluster --ranks 8 --tasks-per-rank 20 --iterations 20 --policy "
        "rws,dam-c"},
       make_heat},
      {"vgg",
       "VGG-16: 16 layers that wait for each other, each cut into matrix products; no task is "
       "marked critical",
       {{"input", "512", "N", "Side of the picture, a multiple of 32; 224 is the usual network's"},
        {"block_length", "16", "N", "Output channels of one task"},
        {"tasks_of_block", "one", "HOW",
         "one: a product; chain: scaled first, and a task for im2col before each layer, as S2's "
         "public code has it"}},
       {"vgg --on sim:haswell-20 --policy rws,perf --table paper",
        "vgg --on sim:jetson-tx2 --input 224 --block-length 32 --policy rws,dam-c"},
       make_vgg},
      {of_graphs,
       "A graph of a file or of a generator",
       {{"file", "cholesky:tasks=1000", "GRAPH",
         "A file, - for standard input, or a generator with its values"},
        {"like", "matmul", "KERNEL",
         "On a platform, tasks whose type names no kernel grow with cores and widths like this "
         "one"},
        {"scale", "1", "X", "Seconds in the graph are multiplied by this"},
        {"widths", "", "LIST", widths_meaning}},
       {"cholesky:tasks=1000 --on sim:jetson-tx2 --policy rws,dam-c --disturb cpu@0",
        "workflow.json --on sim:haswell-16 --widths all --policy rws,auto"},
       make_graph,
       true},
  };
  return all;
}

}  // namespace

std::uint64_t default_tasks(std::string_view kernel) {
  if (kernel == "copy") return 10'000;
  if (kernel == "stencil") return 20'000;
  if (kernel == "sort") return 1'000;
  return 32'000;
}

std::string parameter::option() const {
  std::string text = "--" + std::string(name);
  std::ranges::replace(text, '_', '-');
  return text;
}

std::vector<sized_kernel> parse_sized_kernels(std::string_view option, std::string_view text,
                                              bool several) {
  std::vector<sized_kernel> parts;
  for (const std::string_view piece : split_list(text)) {
    const auto equals = piece.find('=');
    if (equals == std::string_view::npos)
      throw input_error(
          fmt::format("{} '{}': each kernel needs its size, as {}", option, text, default_mix));
    const std::string kernel = known_kernel(piece.substr(0, equals));
    if (std::ranges::any_of(parts, [&](const auto& p) { return p.kernel == kernel; }) && !several)
      throw input_error(
          fmt::format("{} '{}': {} is there twice; name each kernel once", option, text, kernel));
    const std::uint32_t tile = checked_tile(option, kernel, piece.substr(equals + 1));
    if (std::ranges::any_of(parts,
                            [&](const auto& p) { return p.kernel == kernel && p.tile == tile; }))
      throw input_error(fmt::format("{} '{}': {}={} is there twice; name each size once", option,
                                    text, kernel, tile));
    parts.push_back({kernel, tile});
  }
  return parts;
}

std::span<const workload_info> workload_catalogue() { return catalogue(); }

const workload_info& find_workload(std::string_view name) {
  std::vector<std::string_view> names;
  for (const workload_info& w : catalogue()) names.push_back(w.name);
  return catalogue()[parse_choice("workload", name, names)];
}

workload make_workload(std::string_view name, const parameter_values& given) {
  const workload_info& info = find_workload(name);
  std::vector<std::string_view> known;
  for (const parameter& p : info.parameters) known.push_back(p.name);
  for (const auto& [key, value] : given)
    if (std::ranges::find(known, key) == known.end())
      throw input_error(unknown_name(fmt::format("parameter of {}", name), key, known));
  return info.make(given);
}

std::span<const std::string_view> own_names() {
  static const std::vector<std::string_view> all = [] {
    std::vector<std::string_view> names;
    for (const workload_info& w : catalogue())
      if (w.name != of_graphs) names.push_back(w.name);
    return names;
  }();
  return all;
}

workload make_given(dag made, const std::string& from, const parameter_values& of_graph) {
  const reader r(find_workload(of_graphs), of_graph);
  return make_dag_work(std::move(made), from, r.text("like"), r.positive("scale"),
                       r.text("widths"));
}

void check_named(std::string_view word) {
  if (std::ranges::find(own_names(), word) != own_names().end() || dags::names_a_file(word)) return;
  const std::string_view name = word.substr(0, word.find(':'));
  std::vector<std::string_view> generators;
  for (const dags::generator& g : dags::generators()) generators.push_back(g.name);
  if (std::ranges::find(generators, name) != generators.end()) return;
  std::vector<std::string_view> all(own_names().begin(), own_names().end());
  all.insert(all.end(), generators.begin(), generators.end());
  const std::string_view near = nearest(name, all);
  throw input_error(fmt::format(
      "'{}' is no workload, file or generator of graphs: {}the workloads are {}, the generators {}",
      dags::shown(word), near.empty() ? "" : fmt::format("did you mean '{}'? ", near),
      joined(own_names(), ", "), joined(generators, ", ")));
}

workload make_named(const std::string& word, const parameter_values& of_graph) {
  check_named(word);
  if (std::ranges::find(own_names(), word) == own_names().end()) {
    parameter_values all = of_graph;
    all["file"] = word;
    return make_workload(of_graphs, all);
  }
  for (const parameter& p : find_workload(of_graphs).parameters)
    if (const auto at = of_graph.find(p.name);
        at != of_graph.end() && !at->second.empty() && at->second != p.fallback)
      throw input_error(
          fmt::format("{} '{}' is for graphs, and '{}' is a workload; leave one of them out",
                      p.option(), at->second, word));
  return make_workload(word, {});
}

}  // namespace kilter::lab
