#include "claims/model_measures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <regex>

#include "balance/catalogue.hpp"
#include "kilter/error.hpp"
#include "measuring/experiment.hpp"
#include "measuring/simulation.hpp"
#include "sim/engine.hpp"
#include "statistics/stats.hpp"
#include "threads/recorded_threads.hpp"
#include "threads/thread_platforms.hpp"
#include "threads/thread_run.hpp"
#include "words/numbers.hpp"
#include "words/suggest.hpp"
#include "words/toml_table.hpp"
#include "workloads/dag_work.hpp"

namespace kilter::lab {

namespace {

struct thread_model {
  std::string_view name, scheduler;
  loop_sharing sharing;
};
/// OpenMP's threads are the operating system's to move, within their cluster as those of the
/// authors.
constexpr std::array thread_models = {
    thread_model{"static", "in-cluster", loop_sharing::equal},
    thread_model{"gts", "gts", loop_sharing::equal},
    thread_model{"eas", "eas", loop_sharing::equal},
    thread_model{"loop-static", "in-cluster", loop_sharing::equal},
    thread_model{"loop-dynamic", "in-cluster", loop_sharing::as_they_come}};
constexpr std::array<std::string_view, 6> names = {"static",      "gts",          "eas",
                                                   "loop-static", "loop-dynamic", "task"};

/// Graphs are read once: a claim looks at hundreds of runs of one, several at a time.
std::shared_ptr<const dag> graph_at(const std::string& path) {
  static std::map<std::string, std::shared_ptr<const dag>> read;
  static std::mutex reading;
  const std::lock_guard one_at_a_time(reading);
  auto& one = read[path];
  if (!one) one = load_dag_work(path, "matmul", 1.0).what;
  return one;
}

constexpr std::string_view program_schema = "kilter.programs/1";

std::map<std::string, recorded_program> read_programs(const std::string& folder) {
  const std::string path = folder + "/programs.toml";
  const toml::table root = kilter::detail::parse_toml_file(path, "table of recorded programs");
  const toml_table top(path, "a table of recorded programs", root);
  top.only({"schema", "program"});
  if (top.text("schema") != program_schema)
    top.fail_at("schema", fmt::format("schema '{}' is not known; this version reads '{}'",
                                      top.text("schema"), program_schema));
  std::map<std::string, recorded_program> all;
  for (const toml_table& t : top.tables("program")) {
    t.only({"name", "graph", "loops", "pools", "few_blocks", "ratio", "scale", "bytes_per_s",
            "source"});
    (void)t.text("source");
    const std::string graph = t.text("graph");
    recorded_program p{
        t.text("name"),    folder + "/" + graph,   folder + "/" + t.text_or("loops", graph),
        t.flag("pools"),   t.flag("few_blocks"),   t.number("ratio"),
        t.number("scale"), t.number("bytes_per_s")};
    if (!(p.ratio >= 1.0 && p.ratio <= 100.0))
      t.fail_at("ratio", fmt::format("'ratio' is {}; it must be from 1 to 100", p.ratio));
    if (!(p.scale > 0.0 && p.scale <= 1e6))
      t.fail_at("scale",
                fmt::format("'scale' is {}; it must be above 0 and at most 1000000", p.scale));
    if (!(p.bytes_per_s >= 0.0 && p.bytes_per_s <= 1e12))
      t.fail_at("bytes_per_s",
                fmt::format("'bytes_per_s' is {}; it must be from 0 to 1e12", p.bytes_per_s));
    all[p.name] = std::move(p);
  }
  return all;
}

/// The board's watts are in proportion to busy cores: its file says so, and of each kind here is
/// what one draws.
double busy_watts(const sim::platform& p, kind_id kind) {
  return std::ranges::find(p.power, kind, &sim::power_figure::kind)->busy_w.front();
}

/// What S1 leaves open of its board.
struct board_reading {
  bool little_first = false;  // threads begin on little cores, which Linux numbers first
  bool paths_alike = false;   // little cores get as much memory as big ones
  double little_watts = 1.0;  // what a little core draws, over its figure
};

board_reading reading_of(const experiment_scenario& s) {
  const auto is = [&](const char* key, const char* value) {
    const auto at = s.parameters.find(key);
    return at != s.parameters.end() && at->second == value;
  };
  const auto watts = s.parameters.find("little_watts");
  return {
      .little_first = is("begin", "little"),
      .paths_alike = is("paths", "alike"),
      .little_watts =
          watts == s.parameters.end()
              ? 1.0
              : static_cast<double>(parse_count("little_watts", watts->second, 1, 10'000)) / 100.0};
}

/// S1's board as its file has it, but for the reading.
sim::platform board_of(const board_reading& reading) {
  sim::platform p = sim::platform::load("odroid-xu3");
  if (reading.paths_alike) p.cluster_bytes_per_s.back() = p.cluster_bytes_per_s.front();
  for (sim::power_figure& f : p.power)
    if (f.kind != 0)
      for (double& w : f.busy_w) w *= reading.little_watts;
  return p;
}

/// The board for this program: its kernel of reference does what the program's tasks do.
sim::platform board_for(const recorded_program& program, const core_configuration& cores,
                        const board_reading& reading) {
  sim::platform p = board_of(reading);
  const auto on_big = std::ranges::find_if(
      p.kernels, [](const sim::kernel_cost& k) { return k.name == "matmul" && k.kind == 0; });
  std::vector<double> seconds = on_big->seconds;
  on_big->bytes = on_big->bytes_beyond_cache = program.bytes_per_s * seconds.front();
  on_big->working_set = 0.0;
  for (sim::kernel_cost& k : p.kernels) {
    if (k.name != "matmul" || k.kind == 0) continue;
    k.bytes = k.bytes_beyond_cache = on_big->bytes;
    k.working_set = 0.0;
    for (std::size_t w = 0; w < k.seconds.size(); ++w) k.seconds[w] = seconds[w] * program.ratio;
  }
  std::vector<core_id> keep;
  std::array<std::uint32_t, 2> left{cores.big, cores.little};
  for (const core& c : p.cores->cores())
    if (left[c.kind] > 0) {
      --left[c.kind];
      keep.push_back(c.id);
    }
  return p.restricted_to(keep);
}

model_run run_tasks(const recorded_program& program, const core_configuration& cores,
                    const board_reading& reading, const std::string& policy, std::uint64_t seed) {
  const sim::platform board = board_for(program, cores, reading);
  // A graph's seconds are those of the fastest kind that there is.
  const double scale = cores.big > 0 ? program.scale : program.scale * program.ratio;
  dag_work work{
      .from = program.graph, .what = graph_at(program.graph), .scale = scale, .widths = {1}};
  graph g;
  const task_graph made = build(g, work, board);
  sim::engine_options o{.policy = make_policy(policy, *board.cores, {}),
                        .table = table_options::robust(),
                        .seed = seed};
  sim::engine engine(board, o);
  const execution_stats stats = engine.run(g, made.types, 0);
  return {stats.seconds, engine.energy_j().value()};
}

model_run run_threads(const recorded_program& program, const core_configuration& cores,
                      const board_reading& reading, const thread_model& how, std::uint64_t seed) {
  const thread_platform on =
      odroid_xu3(cores.big, cores.little, program.ratio, reading.paths_alike);
  const bool as_they_come = how.sharing == loop_sharing::as_they_come
                                ? !program.few_blocks
                                : program.pools && how.name != "loop-static";
  const loop_sharing sharing = as_they_come ? loop_sharing::as_they_come : loop_sharing::equal;
  const sim::thread_program threads =
      threads_of(*graph_at(program.loops), cores.big + cores.little, sharing, program.scale,
                 {.bytes_per_s = program.bytes_per_s});
  const thread_run r = run_thread_programs(on, std::span(&threads, 1), std::string(how.scheduler),
                                           {.slow_first = reading.little_first}, seed);
  const sim::platform board = board_of(reading);
  model_run run{r.end_s, 0.0};
  for (core_id c = 0; c < r.busy_s.size(); ++c)
    run.joules += r.busy_s[c] * busy_watts(board, c < cores.big ? 0 : 1);
  return run;
}

}  // namespace

recorded_program recorded_program_of(const std::string& name) {
  const std::map<std::string, recorded_program> all =
      read_programs(experiments_directory() + "/programs");
  const auto at = all.find(name);
  if (at != all.end()) return at->second;
  std::vector<std::string_view> known;
  for (const auto& [one, program] : all) known.push_back(one);
  throw input_error(unknown_name("program", name, known));
}

core_configuration read_configuration(const std::string& text) {
  static const std::regex form("([0-4])\\+([0-4])");
  std::smatch parts;
  if (!std::regex_match(text, parts, form) || text == "0+0")
    throw input_error(
        "configuration '" + text +
        "': write how many big and little cores are in use, as 4+0 or 2+2, up to 4+4");
  return {static_cast<std::uint32_t>(std::stoul(parts[1])),
          static_cast<std::uint32_t>(std::stoul(parts[2]))};
}

std::span<const std::string_view> execution_models() noexcept { return names; }

model_run run_model_of(const experiment_scenario& s, const selection& run, std::uint32_t seed) {
  const recorded_program program = recorded_program_of(run.at("program"));
  const core_configuration cores = read_configuration(run.at("configuration"));
  const std::string& model = run.at("policy");
  const board_reading reading = reading_of(s);
  if (const auto threads = std::ranges::find(thread_models, model, &thread_model::name);
      threads != thread_models.end())
    return run_threads(program, cores, reading, *threads, seed);
  return run_tasks(program, cores, reading, model == "task" ? "fifo" : model, seed);
}

std::vector<double> model_values(const experiment_scenario& s, const cell& c,
                                 const std::vector<model_run>& runs) {
  std::vector<double> values;
  for (const model_run& r : runs)
    values.push_back(c.measure == "model_speed"    ? 1.0 / r.seconds
                     : c.measure == "model_energy" ? r.joules
                     : c.measure == "model_power"  ? r.joules / r.seconds
                                                   : r.joules * r.seconds);
  std::vector<double> means;
  for (std::size_t i = 0; i + s.draws <= values.size(); i += s.draws)
    means.push_back(mean(std::span(values).subspan(i, s.draws)));
  return means;
}

}  // namespace kilter::lab
