#pragma once
// What must hold of every simulated run, whatever the machine, graph and policy.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "measuring/measurement.hpp"
#include "measuring/simulation.hpp"
#include "session/progress.hpp"
#include "unit/lab/random_runs/random_case.hpp"

namespace kilter::lab::test {

inline constexpr double rounding_s = 1e-9;

/// What disturbances leave of a core's speed, from the disturbances themselves and not from the
/// engine. A quota is not in it.
class left_over_time {
 public:
  left_over_time(const sim::platform& p, std::vector<sim::disturbance> all, double until_s)
      : changes_(p.cores->core_count()) {
    const machine& m = *p.cores;
    for (sim::disturbance& d : all) {
      using enum sim::disturbance::kind;
      if (d.what == quota || d.what == offline) continue;
      const kind_id kind = m.cores()[d.cores.front()].kind;
      double part = d.what == sliced ? 0.0 : d.left;
      if (d.what == clock) {
        const sim::clock_steps& steps = p.clocks[kind];
        part = steps.nearest(d.left);
        d.from_s += steps.transition_s;
        if (d.to_s >= 0.0) d.to_s += steps.transition_s;
      }
      sim::disturbance_phase phase(d);
      double at_s = 0.0;
      for (bool active = phase.active(); at_s <= until_s; active = phase.active()) {
        const double next_s = phase.next_change() == sim::never
                                  ? 2 * until_s + 1
                                  : sim::to_seconds(phase.next_change());
        if (active)
          for (core_id c = 0; c < m.core_count(); ++c)
            if ((d.what == clock && m.cores()[c].kind == kind) ||
                std::ranges::find(d.cores, c) != d.cores.end())
              changes_[c].push_back({at_s, next_s, part});
        if (phase.next_change() == sim::never) break;
        at_s = next_s;
        phase.advance();
      }
    }
  }
  /// Seconds of undisturbed work that the core can do in a span of time.
  [[nodiscard]] double between(core_id c, double from_s, double to_s) const {
    std::vector<double> cuts{from_s, to_s};
    for (const span& s : changes_[c])
      for (const double t : {s.from_s, s.to_s})
        if (t > from_s && t < to_s) cuts.push_back(t);
    std::ranges::sort(cuts);
    double sum = 0.0;
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
      const double middle = 0.5 * (cuts[i] + cuts[i + 1]);
      double speed = 1.0;
      for (const span& s : changes_[c])
        if (s.from_s <= middle && middle < s.to_s) speed *= s.part;
      sum += speed * (cuts[i + 1] - cuts[i]);
    }
    return sum;
  }

 private:
  struct span {
    double from_s, to_s, part;
  };
  std::vector<std::vector<span>> changes_;
};

/// A member's time at a task.
struct member_span {
  double from_s = 0.0, to_s = 0.0;
  std::uint64_t task = 0;
  core_id core = 0;
};

struct finished_task {
  int times = 0;
  double begin_s = 0.0, end_s = 0.0, work = 1.0;
  const sim::task_cost* cost = nullptr;
  std::uint32_t width_index = 0, width = 1;
  std::vector<member_span> members;
};

/// What a run did.
struct witness {
  std::map<std::uint64_t, finished_task> tasks;
  execution_stats stats;
  double until_s = 0.0;

  void see(const sim::sim_assembly& a, double now_s) {
    const std::uint64_t id = kilter::detail::id_of(a.task);
    finished_task& t = tasks[id];
    ++t.times;
    t.end_s = now_s;
    t.begin_s = a.came_s.front();
    const auto* own = kilter::detail::cold_of(a.task);
    t.work = own && own->work > 0.0 ? own->work : 1.0;
    t.cost = a.cost;
    t.width_index = a.width_index;
    t.width = a.width;
    for (std::size_t i = 0; i < a.times.size(); ++i)
      t.members.push_back({a.came_s[i], a.came_s[i] + a.times[i].seconds, id, a.times[i].core});
  }
};

inline std::string check_order(graph& g, witness& w) {
  if (w.stats.tasks != g.size())
    return fmt::format("{} tasks were counted, the graph has {}", w.stats.tasks, g.size());
  std::string wrong;
  kilter::detail::graph_access::core(g).for_each_node([&](kilter::detail::node* n) {
    const std::uint64_t id = kilter::detail::id_of(n);
    if (w.tasks[id].times != 1)
      wrong = fmt::format("task {} was done {} times", id, w.tasks[id].times);
    kilter::detail::for_each_successor(n, [&](kilter::detail::node* to, double) {
      const std::uint64_t after = kilter::detail::id_of(to);
      if (w.tasks[after].begin_s < w.tasks[id].end_s - rounding_s)
        wrong = fmt::format("task {} began at {} s, before its predecessor {} ended at {} s", after,
                            w.tasks[after].begin_s, id, w.tasks[id].end_s);
    });
  });
  return wrong;
}

inline std::string check_cores(const witness& w) {
  std::vector<std::vector<member_span>> on_core(w.stats.core_work_s.size());
  for (const auto& [id, t] : w.tasks)
    for (const member_span& m : t.members) on_core[m.core].push_back(m);
  for (core_id c = 0; c < on_core.size(); ++c) {
    std::ranges::sort(on_core[c], {}, &member_span::from_s);
    double in_bodies_s = 0.0;
    const double number = static_cast<double>(on_core[c].size());
    for (const member_span& m : on_core[c]) in_bodies_s += m.to_s - m.from_s;
    // Who joins a wide task in the moment of its end is there for no time.
    std::erase_if(on_core[c], [](const member_span& m) { return m.to_s - m.from_s < rounding_s; });
    for (std::size_t i = 0; i < on_core[c].size(); ++i) {
      if (i > 0 && on_core[c][i].from_s < on_core[c][i - 1].to_s - rounding_s)
        return fmt::format("core {} did tasks {} and {} at once", c, on_core[c][i - 1].task,
                           on_core[c][i].task);
    }
    if (std::abs(in_bodies_s - w.stats.core_work_s[c]) > rounding_s * (1.0 + number))
      return fmt::format("core {} was {} s in bodies, not {} s", c, in_bodies_s,
                         w.stats.core_work_s[c]);
  }
  return "";
}

inline std::string check_work(const witness& w, const left_over_time& left, bool longer) {
  for (const auto& [id, t] : w.tasks) {
    if (t.cost->fixed) continue;
    double shares = 0.0;
    for (const member_span& m : t.members)
      shares += left.between(m.core, m.from_s, m.to_s) / (t.width * t.cost->seconds[t.width_index]);
    const double near = 1e-6 * t.work + rounding_s / t.cost->seconds[t.width_index];
    // for the next period, for data, or for memory
    const bool waits = longer || t.cost->bytes_beyond_cache > 0.0;
    if (shares < t.work - near || (!waits && shares > t.work + near))
      return fmt::format("the members of task {} did {} of it, and it is {}", id, shares, t.work);
  }
  return "";
}

inline std::string check_energy(const sim::platform& p, std::optional<double> joules,
                                std::optional<double> reported_j, double seconds) {
  if (joules != reported_j) return "the same run drew another energy";
  if (!joules) return "";
  double most_w = 0.0;
  for (const cluster& c : p.cores->clusters()) {
    double cluster_w = 0.0;
    for (const sim::power_figure& f : p.power)
      if (f.kind == c.kind)
        cluster_w = std::max(cluster_w, sim::watts(f, p.widths(c.kind), c.size));
    most_w += cluster_w;
  }
  if (*joules >= 0.0 && *joules <= most_w * seconds * (1.0 + 1e-9)) return "";
  return fmt::format("it drew {} J in {} s, and all cores draw {} W", *joules, seconds, most_w);
}

/// Why the run of this plan is wrong; empty if it is not.
inline std::string check_run(const experiment& e) {
  progress silent(0, true);
  const auto measured = measurement::make(e, silent);
  measured->run();
  const run_row row = measured->result().runs.back();
  const scenario& s = e.scenarios.back();
  const sim::platform& p = *e.simulated;

  witness w;
  graph g;
  const task_graph made = build(g, e.work, p);
  sim::engine_options o = simulated_options(e, s, e.policies.front(), 0, row.bound_s);
  add_graph(o, e, made);
  o.horizon_s = 600.0;
  const std::vector<sim::disturbance> disturbances = o.disturbances;
  sim::engine* running = nullptr;
  o.finished = [&](const sim::sim_assembly& a, core_id) { w.see(a, running->now_s()); };
  sim::engine engine(p, o);
  running = &engine;
  w.stats = engine.run(g, made.types, e.root == submitter::outside ? no_core : 0);
  w.until_s = engine.now_s();

  if (w.stats.seconds != row.stats.seconds)
    return fmt::format("the same run took {} s, then {} s", row.stats.seconds, w.stats.seconds);
  const bool quota = std::ranges::any_of(
      s.parts, [](const disturbance& d) { return d.kind == disturbance_kind::quota; });
  std::string wrong = check_order(g, w);
  if (wrong.empty()) wrong = check_cores(w);
  const bool longer = quota || e.data == far_data::moved;
  if (wrong.empty()) wrong = check_work(w, left_over_time(p, disturbances, w.until_s), longer);
  if (wrong.empty()) wrong = check_energy(p, engine.energy_j(), row.energy_j, w.until_s);
  if (!wrong.empty()) return wrong;
  if (w.stats.seconds < row.bound_s * (1.0 - 1e-7) - rounding_s)
    return fmt::format("it took {} s, and its bound is {} s", w.stats.seconds, row.bound_s);
  return "";
}

/// As above; what cannot be planned is not wrong.
inline std::string failure_of(const random_case& c, const std::string& platform_file) {
  std::ofstream(platform_file) << c.on.text();
  std::optional<experiment> e;
  try {
    e = plan(c.specified(platform_file));
  } catch (const input_error&) {
    return "";
  }
  try {
    return check_run(*e);
  } catch (const std::exception& error) {
    return error.what();
  }
}

/// The simplest failing case that single steps of simplification lead to.
inline random_case shrunk(random_case c, const std::string& platform_file) {
  int tries = 500;
  for (bool found = true; found && tries > 0;) {
    found = false;
    for (const random_case& simpler : c.simpler()) {
      if (--tries < 0) break;
      if (failure_of(simpler, platform_file).empty()) continue;
      c = simpler;
      found = true;
      break;
    }
  }
  return c;
}

}  // namespace kilter::lab::test
