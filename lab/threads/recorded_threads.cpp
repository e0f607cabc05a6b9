#include "threads/recorded_threads.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "kilter/error.hpp"

namespace kilter::lab {

namespace {

using sim::step_kind;

/// A stretch of serial work, then the blocks of one loop.
struct region {
  double before_s = 0.0;
  std::vector<double> blocks_s;
};

std::vector<region> regions_of(const dag& d, std::uint32_t step) {
  std::vector<region> all(1);
  for (const dag::task& t : d.tasks) {
    if (t.type != step) {
      all.back().blocks_s.push_back(t.seconds);
      continue;
    }
    if (!all.back().blocks_s.empty()) all.emplace_back();
    all.back().before_s += t.seconds;
  }
  return all;
}

double sum(std::span<const double> all) {
  double total = 0.0;
  for (const double one : all) total += one;
  return total;
}

/// A piece takes some time, however little.
sim::thread_pool pool_of(std::span<const double> seconds, double scale) {
  constexpr double least_s = 1e-12;
  sim::thread_pool pool{.pieces = static_cast<std::uint32_t>(seconds.size())};
  for (const double s : seconds) pool.amounts_s.push_back(std::max(least_s, s * scale));
  return pool;
}

sim::thread_program of_loops(const dag& d, std::uint32_t step, std::uint32_t threads,
                             loop_sharing sharing, double scale) {
  sim::thread_program p;
  p.groups.emplace_back().threads.resize(threads);
  auto& team = p.groups.front().threads;
  const auto computes = [&](std::uint32_t thread, double seconds) {
    if (seconds > 0.0) team[thread].steps.push_back({step_kind::compute, 0, seconds * scale});
  };
  const auto all_meet = [&] {
    for (sim::thread_plan& t : team) t.steps.push_back({step_kind::barrier, 0});
  };
  p.barriers = {threads};
  for (const region& r : regions_of(d, step)) {
    computes(0, r.before_s);
    if (r.blocks_s.empty()) continue;
    all_meet();
    const std::span<const double> blocks = r.blocks_s;
    if (sharing == loop_sharing::as_they_come) {
      p.pools.push_back(pool_of(blocks, scale));
      for (sim::thread_plan& t : team)
        t.steps.push_back({step_kind::pool, static_cast<std::uint32_t>(p.pools.size() - 1)});
    } else {
      for (std::uint32_t t = 0; t < threads; ++t) {
        const std::size_t first = blocks.size() * t / threads,
                          last = blocks.size() * (t + 1) / threads;
        computes(t, sum(blocks.subspan(first, last - first)));
      }
    }
    all_meet();
  }
  return p;
}

/// Whether each task of the type waits for the one before.
bool is_serial(const dag& d, const std::vector<std::uint32_t>& tasks) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> edges;
  for (const dag::edge& e : d.edges) edges.emplace(e.from, e.to);
  for (std::size_t i = 1; i < tasks.size(); ++i)
    if (!edges.contains({tasks[i - 1], tasks[i]})) return false;
  return true;
}

sim::thread_program of_stages(const dag& d, std::uint32_t threads, double scale) {
  // tasks of each type that has some, in order of appearance
  std::vector<std::vector<std::uint32_t>> stages;
  std::vector<std::size_t> stage_of(d.types.size(), ~std::size_t{0});
  for (std::uint32_t t = 0; t < d.tasks.size(); ++t) {
    std::size_t& stage = stage_of[d.tasks[t].type];
    if (stage == ~std::size_t{0}) {
      stage = stages.size();
      stages.emplace_back();
    }
    stages[stage].push_back(t);
  }
  sim::thread_program p;
  p.groups.emplace_back();
  for (std::uint32_t s = 0; s < stages.size(); ++s) {
    if (stages[s].size() != stages.front().size())
      throw input_error("graph " + d.name + ": its types '" +
                        d.types[d.tasks[stages.front().front()].type].name + "' and '" +
                        d.types[d.tasks[stages[s].front()].type].name +
                        "' have unlike numbers of tasks, so they are no stages of a pipeline");
    std::vector<double> seconds;
    for (const std::uint32_t t : stages[s]) seconds.push_back(d.tasks[t].seconds);
    p.pools.push_back(pool_of(seconds, scale));
    if (s > 0) p.pools.back().fed_by = s - 1;
    for (std::uint32_t t = 0; t < (is_serial(d, stages[s]) ? 1 : threads); ++t)
      p.groups.front().threads.push_back({.steps = {{step_kind::pool, s}}});
  }
  return p;
}

}  // namespace

sim::thread_program threads_of(const dag& d, std::uint32_t threads, loop_sharing sharing,
                               double scale, const sim::demand& wants) {
  if (d.tasks.empty() || threads == 0)
    throw input_error("graph " + d.name + ": it must have tasks, and threads that do them");
  const auto step = std::ranges::find(d.types, "step", &dag::type::name);
  sim::thread_program p = step == d.types.end()
                              ? of_stages(d, threads, scale)
                              : of_loops(d, static_cast<std::uint32_t>(step - d.types.begin()),
                                         threads, sharing, scale);
  p.name = d.name;
  p.demands = {wants};
  return p;
}

}  // namespace kilter::lab
