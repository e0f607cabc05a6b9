// bench_simulator: what the simulator costs. Cost a task over the number of cores, tasks a second
// on the Jetson TX2, and a million tasks on 1,024 cores.

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "kilter/error.hpp"
#include "measuring/simulation.hpp"
#include "session/progress.hpp"
#include "statistics/stats.hpp"

namespace kilter::bench {

namespace {

struct cost {
  /// CPU time of the engine's run, without building the graph; it has one thread
  double seconds = 0.0;
  double bytes_per_task = 0.0;  ///< resident memory that graph and engine added
  std::uint64_t tasks = 0;
};

double resident_bytes(const char* field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(field))
      return std::stod(line.substr(std::string_view(field).size() + 1)) * 1024.0;
  return 0.0;
}

/// What workers cost one another, of about the size that `kilter lab calibrate` finds on two cores,
/// with a body that takes a fifth longer when its whole cluster is busy.
std::shared_ptr<const sim::platform> charged(const sim::platform& free) {
  auto p = std::make_shared<sim::platform>(free);
  sim::contention& c = p->contention;
  for (kind_id k = 0; k < p->cores->kinds().size(); ++k) {
    c.gather.push_back({k, {{2, 32}, {7e-7, 3e-6}}, {{2, 32}, {1e-6, 5e-6}}});
    c.busy.push_back({k, {{1, 32}, {1.0, 1.2}}});
  }
  c.look_s = {{1, 1024}, {2e-7, 1e-6}};
  c.steal_s = {{1, 1024}, {1.3e-7, 1e-6}};
  c.queue_s = {{1, 2, 1024}, {3e-8, 7e-8, 2e-7}};
  c.sleep =
      sim::sleep_figure{.after_s = 5e-5, .long_after_s = 2e-4, .call_s = 1.3e-5, .up_s = 3.3e-5};
  c.lend = sim::lend_figure{.looks_s = 1e-3, .seconds = 1e-4, .keeps_s = 1.2e-3};
  for (const char* policy : {"rws", "dam-c"})
    c.decisions.push_back({policy, 3e-5, 8e-8, 6e-8, 0.0});
  return p;
}

cost simulate(const std::string& platform, const std::string& policy, std::uint64_t tasks,
              std::uint64_t parallelism, lab::table_mode table, bool charges = false) {
  lab::specification a;
  a.on = lab::read_engine("--on", "sim:" + platform);
  a.policy_lists = lab::read_policies({policy});
  a.table = table;
  a.work = lab::make_workload("layered", {{"tasks", fmt::format("{}", tasks)},
                                          {"parallelism", fmt::format("{}", parallelism)}});
  lab::experiment e = lab::plan(a);
  if (charges) e.simulated = charged(*e.simulated);
  const double before = resident_bytes("VmRSS:");
  graph g;
  const lab::task_graph made = lab::build(g, e.work, *e.simulated);
  sim::engine engine(*e.simulated, lab::simulated_options(e, e.scenarios.front(), policy, 0, 0.0));
  const std::clock_t start = std::clock();
  engine.run(g, made.types, 0);
  cost c;
  c.seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  c.tasks = g.size();
  c.bytes_per_task = (resident_bytes("VmHWM:") - before) / static_cast<double>(g.size());
  return c;
}

/// In a process of its own, so that its memory is its own.
cost simulate_apart(const std::string& platform, const std::string& policy, std::uint64_t tasks,
                    std::uint64_t parallelism, lab::table_mode table) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("no pipe for a child process");
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("no child process");
  if (child == 0) {
    const cost c = simulate(platform, policy, tasks, parallelism, table);
    const auto written = ::write(ends[1], &c, sizeof c);
    ::_exit(written == sizeof c ? 0 : 1);
  }
  ::close(ends[1]);
  cost c;
  const auto got = ::read(ends[0], &c, sizeof c);
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  if (got != sizeof c) throw std::runtime_error("a simulation did not end");
  return c;
}

struct size {
  std::uint32_t cores;
  const char* platform;
};
constexpr std::array sizes{size{4, "grid:1x4"},      size{16, "grid:1x16"},
                           size{64, "grid:2x32"},    size{256, "grid:8x32"},
                           size{1024, "grid:32x32"}, size{4096, "grid:128x32"}};

/// Nanoseconds of CPU time a task: the least of the rounds, since whatever else the computer does
/// only adds.
double cost_ns(const size& s, const char* policy, bool charges, std::uint32_t rounds) {
  double least = 1e9;
  const std::uint64_t parallelism = 2 * s.cores,
                      tasks = std::max<std::uint64_t>(60'000, 40 * parallelism);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const cost c =
        simulate(s.platform, policy, tasks, parallelism, lab::table_mode::robust, charges);
    least = std::min(least, c.seconds * 1e9 / static_cast<double>(c.tasks));
  }
  return least;
}

int run(bool quick) {
  const std::uint32_t rounds = quick ? 1 : 3;
  lab::progress shown(4 * sizes.size() + 3, false);

  // First, while this process has nothing that a child could use again without asking the system
  // for it.
  const std::uint64_t many = quick ? 100'000 : 1'000'000;
  std::string million =
      fmt::format("\ndam-c on grid:32x32, {} tasks (goals: 5 s, 200 bytes a task)\n", many);
  for (const std::uint64_t parallelism : {16u, 2048u}) {
    shown.step(fmt::format("{} tasks, parallelism {}", many, parallelism));
    const cost c =
        simulate_apart("grid:32x32", "dam-c", many, parallelism, lab::table_mode::robust);
    million += fmt::format(
        "  parallelism {:>4}: {:.2f} s, {:.0f} resident bytes a task, its edges included\n",
        parallelism, c.seconds, c.bytes_per_task);
  }

  std::string text;
  const std::array policies{"rws", "dam-c"};
  for (const bool charges : {false, true}) {
    text += fmt::format(
        "{}layered graphs, two tasks a core in a layer, robust table{}: ns a task, the least of "
        "{}\n  {:>6}",
        charges ? "\n" : "", charges ? ", with what workers cost one another" : "", rounds,
        "cores");
    for (const char* policy : policies) text += fmt::format(" {:>8}", policy);
    text += fmt::format("   {:>17}\n", "logarithm allows");
    std::array<double, 2> first{};
    std::array<bool, 2> below{true, true};
    for (const size& s : sizes) {
      text += fmt::format("  {:>6}", s.cores);
      const double allowed = std::log(s.cores) / std::log(sizes.front().cores);
      for (std::size_t i = 0; i < policies.size(); ++i) {
        shown.step(fmt::format("{}, {} cores{}", policies[i], s.cores, charges ? ", charged" : ""));
        const double ns = cost_ns(s, policies[i], charges, rounds);
        if (first[i] == 0.0) first[i] = ns;
        below[i] = below[i] && ns <= first[i] * allowed;
        text += fmt::format(" {:>8.0f}", ns);
      }
      text += fmt::format("   {:>7.0f}, {:>7.0f}\n", first[0] * allowed, first[1] * allowed);
    }
    for (std::size_t i = 0; i < policies.size(); ++i)
      text += fmt::format(
          "  {}: {} from 4 cores on\n", policies[i],
          below[i] ? "grows no faster than a logarithm" : "grows FASTER than a logarithm");
  }

  shown.step("Jetson TX2");
  std::vector<double> per_s;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const cost c =
        simulate("jetson-tx2", "rws", quick ? 200'000 : 1'000'000, 4, lab::table_mode::paper);
    per_s.push_back(static_cast<double>(c.tasks) / c.seconds);
  }
  text += fmt::format(
      "\nrws on jetson-tx2, parallelism 4: {:.2f} million tasks a second (median of {}; goal 2)\n",
      lab::median(per_s) * 1e-6, rounds);
  shown.clear();
  std::fputs((text + million).c_str(), stdout);
  return 0;
}

}  // namespace

}  // namespace kilter::bench

int main(int argc, char** argv) {
  CLI::App app("What the simulator costs a task. bench/README.md explains the lines.");
  bool quick = false;
  app.add_flag("--quick", quick, "One round and smaller graphs: shows that it works");
  CLI11_PARSE(app, argc, argv);
  try {
    return kilter::bench::run(quick);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_simulator: %s\n", e.what());
    return 1;
  }
}
