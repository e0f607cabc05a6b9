#include "measuring/topcuoglu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <mutex>

#include "base/sync.hpp"
#include "graph_files/dag_source.hpp"
#include "measuring/given_tasks.hpp"
#include "policy/planner.hpp"
#include "session/helping_threads.hpp"
#include "session/interrupt.hpp"
#include "session/progress.hpp"
#include "sim/ideal_platform.hpp"
#include "workloads/dag_work.hpp"

namespace kilter::lab {

namespace {

constexpr std::array<std::uint32_t, 5> sizes{20, 40, 60, 80, 100};
constexpr std::array<double, 3> alphas{0.5, 1.0, 2.0};
// 0: as many as there are tasks
constexpr std::array<std::uint32_t, 6> out_degrees{1, 2, 3, 4, 5, 0};
constexpr std::array<double, 5> ccrs{0.1, 0.5, 1.0, 5.0, 10.0};
constexpr std::array<double, 5> betas{0.1, 0.25, 0.5, 0.75, 1.0};
constexpr std::uint32_t of_each_kind = 25;
static_assert(sizes.size() * alphas.size() * out_degrees.size() * ccrs.size() * betas.size() *
                  of_each_kind ==
              topcuoglu_graphs);

constexpr std::array<const char*, 2> planners{"heft", "cpop"};

/// The last digit of `index` in a system with as many digits as there are values; takes it off.
template <class Values>
auto take(std::uint32_t& index, const Values& values) {
  const auto value = values[index % values.size()];
  index /= static_cast<std::uint32_t>(values.size());
  return value;
}

void plan_both(const dag& d, topcuoglu_result& r) {
  std::vector<planner::plan_edge> edges;
  for (const dag::edge& e : d.edges) edges.push_back({e.from, e.to, e.cost_s});
  const planner::plan_input input{.tasks = static_cast<std::uint32_t>(d.tasks.size()),
                                  .processors = static_cast<std::uint32_t>(d.processors.size()),
                                  .seconds = d.seconds_on,
                                  .edges = edges};
  for (int which = 0; which < 2; ++which) {
    const std::int64_t from_ns = sync::thread_cpu_nanoseconds();
    r.planned_s[which] = (which == 0 ? planner::heft(input) : planner::cpop(input)).makespan_s;
    r.planning_s[which] = static_cast<double>(sync::thread_cpu_nanoseconds() - from_ns) * 1e-9;
  }
}

void execute_both(const dag_work& work, topcuoglu_result& r) {
  const sim::platform ideal = sim::ideal_platform(work.what->processors);
  graph g;
  const task_graph made = build(g, work, ideal);
  const given_tasks given(g, ideal.cores->core_count());
  const rate_sample free = given.rates_of_cores();
  r.path_s = static_cast<double>(given.path_tasks()) / free.alone_per_s.front();
  r.sequential_s = given.sequential_s();
  for (std::size_t which = 0; which < 2; ++which) {
    sim::engine_options o;
    o.policy = make_policy(planners[which], *ideal.cores);
    sim::engine engine(ideal, o);
    r.executed_s[which] = engine.run(g, made.types, 0).seconds;
  }
}

}  // namespace

std::string topcuoglu_graph::call(std::uint32_t processors) const {
  return fmt::format("topcuoglu:tasks={},alpha={},out={},ccr={},beta={},processors={},seed={}",
                     tasks, alpha, out_degree, ccr, beta, processors, seed);
}

topcuoglu_graph graph_of_set(std::uint32_t index) {
  topcuoglu_graph g;
  g.seed = index + 1;
  index /= of_each_kind;
  g.beta = take(index, betas);
  g.ccr = take(index, ccrs);
  g.out_degree = take(index, out_degrees);
  g.alpha = take(index, alphas);
  g.tasks = take(index, sizes);
  if (g.out_degree == 0) g.out_degree = g.tasks;
  return g;
}

topcuoglu_result run_topcuoglu(const topcuoglu_graph& one, std::uint32_t processors) {
  topcuoglu_result r{.graph = one};
  dag_work work{.from = one.call(processors), .what = {}, .given = true};
  work.what = std::make_shared<const dag>(load_dag(work.from));
  plan_both(*work.what, r);
  execute_both(work, r);
  return r;
}

topcuoglu_outcome run_set(const topcuoglu_specification& asked, bool quiet) {
  const std::int64_t start_ns = sync::nanoseconds();
  const std::uint32_t count = (topcuoglu_graphs + asked.every - 1) / asked.every;
  constexpr std::uint32_t a_step = 250;
  progress shown((count + a_step - 1) / a_step, quiet);
  topcuoglu_outcome all;
  all.results.resize(count);
  std::vector<char> done(count, 0);
  std::atomic<std::uint32_t> next{0};
  std::mutex mutex;
  std::exception_ptr failed;
  const auto work = [&] {
    for (std::uint32_t i; (i = next++) < count && !interrupted();) {
      if (i % a_step == 0) {
        const std::lock_guard lock(mutex);
        shown.step(fmt::format("{} of {} graphs", i, count));
      }
      try {
        all.results[i] = run_topcuoglu(graph_of_set(i * asked.every), asked.processors);
        done[i] = 1;
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failed) failed = std::current_exception();
        next = count;
      }
    }
  };
  helped_by(asked.threads - 1, work);
  shown.clear();
  if (failed) std::rethrow_exception(failed);
  all.complete = !interrupted();
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < count; ++i)
    if (done[i]) all.results[kept++] = all.results[i];
  all.results.resize(kept);
  all.tool_seconds = static_cast<double>(sync::nanoseconds() - start_ns) * 1e-9;
  return all;
}

}  // namespace kilter::lab
