// The twelve codes of S3's Table 3 as threads: who forks when, how much is serial, where barriers
// and locks are. The table gives classes and counts, no times, so the shapes follow S1's styles
// (papers.md A2.2), Table 4's threads and groups, and S3's three cases; shares are assumed and the
// same for all codes of a shape. Counts of barriers and locks above a few hundred are cut to that:
// what they do to the order of threads does not change with more of them.

#include <algorithm>
#include <array>
#include <string_view>

#include "threads/thread_programs.hpp"

namespace kilter::lab {

namespace {

using sim::step_kind;
using sim::thread_plan;
using sim::thread_program;

// papers.md B4: 10.6 % on average for a clock 14.4 % lower leaves a compute share of 0.63
constexpr double parsec_stall = 0.37;
// of each thread, alone on a fast core: assumed, long against every overhead
constexpr double parallel_s = 8.0;

struct parsec_shape {
  std::string_view name;
  double serial;           // part of the run before and between the groups, on the main thread
  std::uint32_t groups;    // fork and join, one after the other
  std::uint32_t barriers;  // in each thread of a group
  std::uint32_t sections;  // under one lock, in each thread of a group
  double locked;           // part of the parallel work in them
  bool pool;               // work is taken piece by piece
  double spread;           // longest thread over the mean, less 1
};

constexpr std::array parsec_shapes = {
    parsec_shape{"blackscholes", 0.02, 1, 1, 0, 0.0, false, 0.0},
    parsec_shape{"bodytrack", 0.10, 60, 4, 0, 0.0, true, 0.0},
    parsec_shape{"canneal", 0.30, 1, 0, 0, 0.0, false, 0.0},
    parsec_shape{"dedup", 0.10, 3, 0, 400, 0.05, true, 0.0},
    parsec_shape{"facesim", 0.02, 1, 200, 0, 0.0, false, 0.0},
    parsec_shape{"ferret", 0.05, 1, 0, 400, 0.02, true, 0.0},
    parsec_shape{"fluidanimate", 0.02, 1, 400, 200, 0.02, false, 0.0},
    parsec_shape{"freqmine", 0.30, 1, 0, 0, 0.0, false, 0.12},
    parsec_shape{"streamcluster", 0.05, 6, 60, 0, 0.0, false, 0.0},
    parsec_shape{"swaptions", 0.00, 1, 0, 0, 0.0, false, 0.0},
    parsec_shape{"vips", 0.05, 2, 0, 400, 0.02, true, 0.0},
    parsec_shape{"x264", 0.05, 1, 0, 100, 0.01, true, 0.0},
};

constexpr std::uint32_t threads = 8, pieces_per_thread = 40;

/// Of thread `t` in group `g`: its work between barriers and sections in equal parts.
thread_plan worker(const parsec_shape& s, std::uint32_t g, std::uint32_t t) {
  thread_plan plan;
  const double tilt = s.spread * (1.0 - 2.0 * t / (threads - 1.0)),
               work_s = parallel_s / s.groups * (1.0 + tilt);
  plan.length = s.spread > 0.0 ? 1.0 + tilt : 0.0;
  if (s.pool) {
    plan.steps.push_back({step_kind::pool, g});
  } else {
    const std::uint32_t parts = std::max({s.barriers, 1u});
    for (std::uint32_t i = 0; i < parts; ++i) {
      plan.steps.push_back({step_kind::compute, 0, work_s * (1.0 - s.locked) / parts});
      if (s.barriers > 0) plan.steps.push_back({step_kind::barrier, g});
    }
  }
  const std::uint32_t sections = s.sections / s.groups;
  for (std::uint32_t i = 0; i < sections; ++i)
    plan.steps.insert(plan.steps.end(), {{step_kind::lock},
                                         {step_kind::compute, 0, work_s * s.locked / sections},
                                         {step_kind::unlock}});
  return plan;
}

}  // namespace

const std::vector<std::string>& parsec_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const parsec_shape& s : parsec_shapes) all.emplace_back(s.name);
    return all;
  }();
  return names;
}

std::vector<thread_program> parsec_program(const std::string& name) {
  const auto s = std::ranges::find(parsec_shapes, name, &parsec_shape::name);
  if (s == parsec_shapes.end()) return {};
  thread_program p{.name = name, .demands = {{.stall = parsec_stall}}, .locks = 1};
  p.groups.resize(1 + s->groups);
  const double serial_s = parallel_s * s->serial / (1.0 - s->serial) / s->groups;
  thread_plan main;
  for (std::uint32_t g = 0; g < s->groups; ++g) {
    main.steps.insert(
        main.steps.end(),
        {{step_kind::compute, 0, serial_s}, {step_kind::start, g + 1}, {step_kind::join, g + 1}});
    if (s->pool)
      p.pools.push_back({threads * pieces_per_thread,
                         parallel_s * (1.0 - s->locked) / s->groups / pieces_per_thread, 0});
    p.barriers.push_back(threads);
    for (std::uint32_t t = 0; t < threads; ++t) p.groups[g + 1].threads.push_back(worker(*s, g, t));
  }
  p.groups[0].threads.push_back(std::move(main));
  return {p};
}

}  // namespace kilter::lab
