#include "measuring/duration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "base/sync.hpp"
#include "kilter/error.hpp"
#include "measuring/emulation.hpp"
#include "measuring/rates.hpp"
#include "measuring/simulation.hpp"
#include "measuring/timeline.hpp"
#include "words/join.hpp"

namespace kilter::lab {

namespace {

/// Seconds of all tasks one after the other, and of the longest path.
struct length {
  double work_s = 0.0, path_s = 0.0;
};

/// What a kernel takes here. Of a large one, some of its parts are run.
double seconds_of_kernel(std::string_view name, std::uint64_t tile, std::uint32_t sweeps) {
  constexpr std::uint32_t fine = 64;
  constexpr double enough_s = 0.02;
  const auto kernel =
      apps::make_kernel(name, tile, {.sweeps = sweeps, .concurrency = 1, .pool_bytes = 1});
  const std::uint32_t parts = kernel->parts(fine);
  const std::int64_t begin = sync::nanoseconds();
  const auto since_s = [](std::int64_t from) {
    return static_cast<double>(sync::nanoseconds() - from) * 1e-9;
  };
  std::uint32_t done = 0;
  while (done < parts && since_s(begin) < enough_s) kernel->run_part(0, done++, parts);
  double least_s = since_s(begin) / done * parts;
  if (done < parts) {
    kernel->reset();
    return least_s;
  }
  while (since_s(begin) < enough_s) {  // the first one found cold caches
    const std::int64_t from = sync::nanoseconds();
    kernel->run(0);
    least_s = std::min(least_s, since_s(from));
  }
  return least_s;
}

struct native_work {
  length graph;
  std::vector<double> kernels_s;        ///< of each kernel that has pinned loops
  std::vector<std::uint32_t> widths{};  ///< of the tasks; empty: all
};

native_work native_work_of(const layered_work& l) {
  const double task_s = seconds_of_kernel(l.kernel, l.tile, l.sweeps);
  return {{task_s * static_cast<double>(l.shape.tasks),
           task_s * static_cast<double>(longest_path(l.shape))},
          {task_s}};
}

native_work native_work_of(const dag_work& w) {
  const dag& d = *w.what;
  native_work all;
  all.widths = w.widths;
  std::vector<double> kernel_s(d.types.size(), 0.0);
  bool burns = false;
  for (std::size_t t = 0; t < d.types.size(); ++t) {
    burns = burns || d.types[t].kernel.empty();
    if (d.types[t].kernel.empty()) continue;
    kernel_s[t] = seconds_of_kernel(
        d.types[t].kernel,
        static_cast<std::uint64_t>(size_of_kernel(d.types[t], d.types[t].kernel)), 1);
    all.kernels_s.push_back(kernel_s[t]);
  }
  if (burns) all.kernels_s.push_back(0.0);
  std::vector<double> begin_s(d.tasks.size(), 0.0);
  std::size_t edge = 0;
  for (std::uint32_t t = 0; t < d.tasks.size(); ++t) {
    const std::uint32_t type = d.tasks[t].type;
    const double own_s = d.types[type].kernel.empty() ? recorded_s(d, t) * w.scale : kernel_s[type],
                 end_s = begin_s[t] + own_s;
    all.graph.work_s += own_s;
    all.graph.path_s = std::max(all.graph.path_s, end_s);
    for (; edge < d.edges.size() && d.edges[edge].from == t; ++edge)
      begin_s[d.edges[edge].to] = std::max(begin_s[d.edges[edge].to], end_s);
  }
  return all;
}

/// What the parts of a set leave of the machine, in cores.
speed left_of(const std::vector<disturbance>& parts, active_set set, std::uint32_t cores) {
  std::vector<double> left(cores, 1.0);
  double paid = cores;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const disturbance& d = parts[i];
    if ((set >> i & 1) == 0) continue;
    const auto leave = [&](double part) {
      for (const core_id c : d.cores) left[c] *= part;
    };
    switch (d.kind) {
      case disturbance_kind::quota: paid *= d.share; break;
      case disturbance_kind::cpu:
      case disturbance_kind::mem:
      case disturbance_kind::session: leave(0.5); break;
      case disturbance_kind::floating:
        leave(1.0 - 0.5 / static_cast<double>(d.cores.size()));
        break;
      case disturbance_kind::share:
      case disturbance_kind::wave: leave(d.share); break;
      case disturbance_kind::freq:
      case disturbance_kind::offline: break;  // not here
    }
  }
  double sum = 0.0;
  for (const double l : left) sum += l;
  return {std::min(sum, paid), std::min(*std::ranges::max_element(left), paid)};
}

/// The least time of a run, by the equations of the bound; work and path in microseconds.
double run_s(const scenario& s, const length& graph, std::uint32_t cores) {
  const auto units = [](double seconds) { return std::min(1e18, std::max(1.0, seconds * 1e6)); };
  return bound_s(s.parts, units(graph.work_s), units(graph.path_s), [&](active_set set) {
    const speed left = left_of(s.parts, set, cores);
    return speed{left.capacity_per_s * 1e6, left.freest_per_s * 1e6};
  });
}

/// Loops on single cores, on wide places and on all at once, before the runs and after them, in
/// every state of the scenario.
double loops_s(const experiment& e, const scenario& s, const native_work& work, double longest_s) {
  constexpr double least_tasks = 4.0;
  std::size_t sets = 0;
  for (const active_set set : sets_within(s.parts, longest_s)) sets += s.parts.empty() || set != 0;
  double one_s = 0.0;
  for (const double kernel_s : work.kernels_s)
    one_s += std::max(e.calibration_s, least_tasks * kernel_s) *
             static_cast<double>(loops_of(*e.machine, work.widths));
  return 2.0 * static_cast<double>(sets) * one_s;
}

std::uint64_t runs_of_scenario(const experiment& e) {
  return e.policies.size() * (std::uint64_t{e.repeats} * e.graphs + (e.details ? 1 : 0));
}

duration native_duration(const experiment& e) {
  const native_work work = std::visit(
      [](const auto& w) -> native_work {
        if constexpr (requires { native_work_of(w); })
          return native_work_of(w);
        else
          return {};  // the plan has refused what does not run here
      },
      e.work);
  duration all;
  const double undisturbed_s = run_s(e.scenarios.front(), work.graph, e.machine->core_count());
  for (const scenario& s : e.scenarios) {
    const std::uint64_t runs = runs_of_scenario(e);
    all += {static_cast<double>(runs) * run_s(s, work.graph, e.machine->core_count()) +
                loops_s(e, s, work, s.parts.empty() ? 1.0 : 4.0 * undisturbed_s),
            runs};
  }
  return all;
}

/// Bodies sleep for as long as they take on the platform, so many times longer.
duration emulated_duration(const experiment& e) {
  graph g;
  const sim::platform& p = *e.simulated;
  const task_graph made = build(g, e.work, p);
  const auto rates = simulated_rates(p, made.types, {}, false, made.widths);
  const mixed_tasks mix(g, p, made.types, rates);
  const speed there = speed_from({mix.rates(rates)});
  const double least_s = std::max(static_cast<double>(mix.tasks()) / there.capacity_per_s,
                                  static_cast<double>(mix.path_tasks()) / there.freest_per_s);
  const double scale = e.on.scale > 0.0 ? e.on.scale : emulation_scale(shortest_task_s(g, made, p));
  const std::uint64_t runs = e.scenarios.size() * runs_of_scenario(e);
  return {least_s * scale * static_cast<double>(runs), runs};
}

}  // namespace

duration& duration::operator+=(const duration& o) noexcept {
  seconds += o.seconds;
  runs += o.runs;
  return *this;
}

duration expected_duration(const experiment& e) {
  if (!e.simulated) return native_duration(e);
  return e.on.emulated ? emulated_duration(e) : duration{};
}

std::string duration_text(double seconds) {
  constexpr double minute = 60.0, hour = 60.0 * minute, day = 24.0 * hour;
  const auto in = [](double value, const char* unit) {
    return fmt::format("{:.{}f} {}", value, value < 9.95 ? 1 : 0, unit);
  };
  if (seconds < 99.5) return fmt::format("{:.0f} s", seconds);
  if (seconds < 99.5 * minute) return in(seconds / minute, "min");
  if (seconds < 2.0 * day) return in(seconds / hour, "h");
  return in(seconds / day, "days");
}

std::string announcement(const duration& d, bool yes) {
  if (d.seconds < shortest_announced_s) return {};
  const std::string what = fmt::format("this takes at least about {}: {}", duration_text(d.seconds),
                                       counted(d.runs, "run"));
  if (d.seconds > longest_unasked_s && !yes)
    throw input_error(
        what +
        "; say --yes to have it so, or ask for less (--repeat, --policy, --disturb, --scale)");
  return what;
}

}  // namespace kilter::lab
