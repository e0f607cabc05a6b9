// bench_graph: one layered graph on Kilter and its peers, each in turn, as bench/many asks for it.
// Prints tasks a second of each system beside each disturbance, as JSON.

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "disturbing/disturber.hpp"
#include "kilter/error.hpp"
#include "measuring/rates.hpp"
#include "session/interrupt.hpp"
#include "study/plan.hpp"
#include "words/numbers.hpp"

namespace kilter::bench {

namespace {

/// Long enough for a co-runner to have had its first slices, so that a run meets it as it stays.
constexpr double settle_s = 0.05;
/// Of the pinned loop that says how many tasks a run has.
constexpr double loop_s = 0.05;

struct asked_graph {
  std::string parallelism = "2", tile = "64", round = "0";
  std::string systems = "auto,rws,onetbb,openmp";
  std::vector<std::string> disturbs{"none"};
  bool barriers = false;
  double seconds = 0.15;
};

/// Tasks a second of one run: a new runtime, in a thread of its own, so that none inherits where
/// the last one has put its thread. The clock stops at the end of the last task, for all alike.
double speed_of(const system& who, const std::shared_ptr<const machine>& m, const dag& d,
                apps::kernel_instance& kernel, std::uint32_t round) {
  std::vector<std::uint64_t> ends(d.size(), 0);
  const workload work{.kernel = &kernel, .ends = &ends};
  const core_id root = round % m->core_count();
  double seconds = 0.0;
  std::exception_ptr failed;
  kernel.reset();
  std::thread([&] {
    try {
      const auto runs = who.make(m, root, round + 1);
      runs->build(d, work);
      const std::uint64_t start = sync::cycles();
      runs->run(root);
      seconds = static_cast<double>(*std::max_element(ends.begin(), ends.end()) - start) /
                sync::cycles_per_second();
      runs->clear();
    } catch (...) {
      failed = std::current_exception();
    }
  }).join();
  if (failed) std::rethrow_exception(failed);
  return static_cast<double>(d.size()) / seconds;
}

nlohmann::ordered_json measured(const asked_graph& a) {
  const auto m = std::make_shared<const machine>(machine::local());
  const auto width =
      static_cast<std::uint32_t>(lab::parse_count("--parallelism", a.parallelism, 1, 65536));
  const auto tile = static_cast<std::uint32_t>(lab::parse_count("--tile", a.tile, 4, 1024));
  const auto round = static_cast<std::uint32_t>(lab::parse_count("--round", a.round, 0, 1'000'000));
  study_options chosen;
  chosen.systems = a.systems;
  const auto systems = systems_of(chosen);
  std::vector<std::vector<lab::disturbance>> scenes;
  for (const std::string& text : a.disturbs) scenes.push_back(lab::parse_disturbances(text, *m));

  const auto kernel =
      apps::make_kernel("matmul", tile, {.concurrency = std::max(16u, 4 * m->core_count())});
  const double alone_per_s = lab::measure_together({{m->cores().front()}}, *kernel, loop_s).front();
  const double tasks =
      std::clamp(a.seconds * alone_per_s * std::min(width, m->core_count()), 4.0, 5e6);
  const auto whole = static_cast<std::uint32_t>(std::lround(tasks));
  const dag d =
      a.barriers ? barriers(whole, width) : layered({.tasks = whole, .parallelism = width});

  nlohmann::ordered_json speeds;
  for (std::size_t s = 0; s < scenes.size(); ++s) {
    std::optional<lab::disturber> loads;
    if (!scenes[s].empty()) {
      loads.emplace(*m, scenes[s]);
      loads->start();
      lab::interruptible_sleep(settle_s);
    }
    for (std::size_t i = 0; i < systems.size(); ++i) {
      const system& who = *systems[(i + round) % systems.size()];
      speeds[a.disturbs[s]][who.name] = speed_of(who, m, d, *kernel, round);
    }
  }
  return {{"schema", "kilter.bench.graph/1"},
          {"tasks", d.size()},
          {"task_us", 1e6 / alone_per_s},
          {"speeds", speeds}};
}

}  // namespace

}  // namespace kilter::bench

int main(int argc, char** argv) {
  using namespace kilter;
  CLI::App app{
      "One layered graph on Kilter and its peers: tasks a second, as JSON on standard output."};
  app.name("bench_graph");
  bench::asked_graph a;
  app.add_option("--parallelism", a.parallelism, "Tasks a layer")
      ->type_name("P")
      ->capture_default_str();
  app.add_flag("--barriers", a.barriers, "Each layer waits for the whole one before");
  app.add_option("--tile", a.tile, "Side of the matrices that a task multiplies")
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--seconds", a.seconds, "Of a run, about")
      ->check(CLI::Range(0.001, 60.0))
      ->capture_default_str();
  app.add_option("--systems", a.systems, "As bench/interference --list names them")
      ->type_name("LIST")
      ->capture_default_str();
  app.add_option("--disturb", a.disturbs, "Co-runners, as none or cpu@0-3; may be given again")
      ->type_name("SPEC");
  app.add_option("--round", a.round,
                 "Which system comes first, and the core that the graph starts on")
      ->type_name("R");
  try {
    app.parse(argc, argv);
    fmt::print("{}\n", bench::measured(a).dump());
    return 0;
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);
    fmt::print(stderr, "bench_graph: {}\n", e.what());
    return 2;
  } catch (const input_error& e) {
    fmt::print(stderr, "bench_graph: {}\n", e.what());
    return 2;
  } catch (const std::exception& e) {
    fmt::print(stderr, "bench_graph: {}\n", e.what());
    return 1;
  }
}
