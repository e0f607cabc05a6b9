// bench_planner: seconds that HEFT and CPOP take to plan graphs of random shape for 8, 64 and 256
// processors, and how that grows with the tasks.

#include <fmt/format.h>

#include <ctime>
#include <vector>

#include "base/random.hpp"
#include "policy/planner.hpp"

namespace kilter::bench {

namespace {

struct instance {
  std::uint32_t tasks, processors;
  std::vector<double> seconds;
  std::vector<planner::plan_edge> edges;
};

/// Four predecessors a task among the last 500; costs of processors differ by up to three times,
/// data cost as much as tasks.
instance random_instance(std::uint32_t tasks, std::uint32_t processors) {
  random_stream r(1, "planner");
  instance all{tasks, processors, std::vector<double>(std::size_t{tasks} * processors), {}};
  for (double& s : all.seconds) s = 0.5 + r.uniform();
  for (std::uint32_t t = 1; t < tasks; ++t) {
    const std::uint32_t from = t > 500 ? t - 500 : 0;
    const std::uint32_t stride = (t - from + 3) / 4;
    for (std::uint32_t p = from + r.below(stride); p < t; p += stride)
      all.edges.push_back({p, t, 2.0 * r.uniform()});
  }
  return all;
}

double cpu_s(planner::plan (*planner)(const planner::plan_input&), const instance& i) {
  const std::clock_t begin = std::clock();
  const planner::plan p = planner({i.tasks, i.processors, i.seconds, i.edges});
  return p.makespan_s > 0.0 ? static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC : 0.0;
}

}  // namespace

}  // namespace kilter::bench

int main() {
  using namespace kilter;
  fmt::print("   tasks  processors    heft    cpop  seconds of CPU time\n");
  for (const std::uint32_t processors : {8u, 64u, 256u})
    for (const std::uint32_t tasks : {1'000u, 10'000u, 100'000u}) {
      const bench::instance i = bench::random_instance(tasks, processors);
      fmt::print("{:>8}  {:>10}  {:>6.3f}  {:>6.3f}\n", tasks, processors,
                 bench::cpu_s(planner::heft, i), bench::cpu_s(planner::cpop, i));
    }
}
