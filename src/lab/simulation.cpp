#include "lab/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/random.hpp"
#include "kilter/error.hpp"
#include "lab/interrupt.hpp"
#include "trace/event.hpp"

namespace kilter::lab {

namespace {

/// Co-runners are chains of 64 x 64 products or of 1024 x 1024 copies (facts A1.3).
struct co_runner_kernel {
  const char* name;
  double size;
};
co_runner_kernel co_runner_of(disturbance_kind k) {
  return k == disturbance_kind::mem ? co_runner_kernel{"copy", 1024} : co_runner_kernel{"matmul", 64};
}

trace::event task_event(const machine& m, const sim::sim_assembly& a, const member_time& t, double end_s, std::uint32_t member, std::uint32_t graph) {
  trace::event e;
  e.kind = trace::event_kind::task;
  e.end_ns = static_cast<std::int64_t>(end_s * 1e9);
  e.start_ns = static_cast<std::int64_t>((end_s - t.seconds) * 1e9);
  e.core = t.core;
  e.task = static_cast<std::uint32_t>(kilter::detail::id_of(a.task));
  e.graph = graph;
  e.leader = m.at(a.where).leader;
  e.width = static_cast<std::uint16_t>(m.at(a.where).width);
  e.type = kilter::detail::graph_of(a.task).kinds[a.task->kind].type;
  e.member = static_cast<std::uint16_t>(member);
  e.flags = static_cast<std::uint8_t>((a.task->flags & kilter::detail::flag_critical ? trace::event_flag::critical : 0) |
                                      (a.stolen ? trace::event_flag::stolen : 0) | (a.at.width > 1 ? trace::event_flag::wide : 0));
  return e;
}

}  // namespace

std::vector<sim::disturbance> to_simulated(const std::vector<disturbance>& parts, const sim::platform& p, bool fluid, double expected_s,
                                           std::uint64_t seed) {
  std::vector<sim::disturbance> all;
  for (const disturbance& d : parts) {
    sim::disturbance s{.cores = d.cores, .left = d.share, .slice_s = p.co_runner.slice_s, .half_period_s = d.half_period_s};
    if (d.window) {
      const double scale = d.window->fractions ? expected_s : 1.0;
      s.from_s = d.window->from * scale;
      s.to_s = d.window->to * scale;
    }
    switch (d.kind) {
      case disturbance_kind::share:
      case disturbance_kind::wave:
        s.what = sim::disturbance::kind::capacity;
        all.push_back(s);
        break;
      case disturbance_kind::freq:
        // A cluster has one clock: each kind that is named changes once.
        s.what = sim::disturbance::kind::clock;
        for (kind_id k = 0; k < p.cores->kinds().size(); ++k) {
          const auto first = std::ranges::find_if(d.cores, [&](core_id c) { return p.cores->cores()[c].kind == k; });
          if (first == d.cores.end()) continue;
          s.cores = {*first};
          all.push_back(s);
        }
        break;
      default:
        // Each core has its own chain, with its own place in time.
        for (const core_id c : d.cores) {
          sim::disturbance one = s;
          one.cores = {c};
          one.what = fluid ? sim::disturbance::kind::capacity : sim::disturbance::kind::sliced;
          one.left = p.co_runner.share;
          one.half_period_s = 0.0;
          one.offset_s = random_stream(seed, "slices", c).uniform() * 2.0 * p.co_runner.slice_s;
          const auto [name, size] = co_runner_of(d.kind);
          if (const sim::kernel_cost* k = p.find(name, size, p.cores->cores()[c].kind)) {
            one.traffic = k->bytes * k->bytes_factor(size) / k->seconds_at(size, 0) * (fluid ? 1.0 - one.left : 1.0);
            one.working_set = k->working_set * k->bytes_factor(size);
          }
          all.push_back(one);
        }
    }
  }
  return all;
}

rate_sample simulated_rates(const sim::platform& p, const std::string& kernel, double size, const std::vector<disturbance>& steady) {
  const machine& m = *p.cores;
  std::vector<double> left(m.core_count(), 1.0);
  for (const sim::disturbance& d : to_simulated(steady, p, true, 0.0, 1))
    for (core_id c = 0; c < m.core_count(); ++c) {
      const bool same_clock = d.what == sim::disturbance::kind::clock && m.cores()[c].kind == m.cores()[d.cores.front()].kind;
      if (same_clock || std::ranges::find(d.cores, c) != d.cores.end()) left[c] *= d.left;
    }
  rate_sample r;
  r.alone_per_s.assign(m.core_count(), 0.0);
  r.together_per_s.assign(m.core_count(), 0.0);
  for (place_id at = 0; at < m.places().size(); ++at) {
    const place where = m.at(at);
    const sim::kernel_cost* k = p.find(kernel, size, m.cores()[where.leader].kind);
    if (!k) throw input_error(fmt::format("platform {} has no figures for kernel '{}'", p.name, kernel));
    std::size_t index = 0;
    for (const place_id other : m.led_by(m.clusters()[m.cores()[where.leader].cluster].first)) index += m.at(other).width < where.width;
    double shares = 0.0;
    for (core_id c = where.leader; c < where.leader + where.width; ++c) shares += left[c];
    const auto& clock = p.clocks[k->kind];
    const double faster = k->mhz > 0.0 && !clock.mhz.empty() ? clock.mhz.back() / k->mhz : 1.0;
    const double per_s = faster / k->seconds_at(size, index);
    // The fastest place for a chain counts for its leader, the cheapest for capacity for each of its cores.
    r.alone_per_s[where.leader] = std::max(r.alone_per_s[where.leader], per_s * shares / where.width);
    for (core_id c = where.leader; c < where.leader + where.width; ++c)
      r.together_per_s[c] = std::max(r.together_per_s[c], per_s / where.width * left[c]);
  }
  return r;
}

simulation::simulation(experiment e, progress& p) : measurement(std::move(e), p) {
  build_layered(graph_, experiment_.shape, experiment_.kernel, [](std::uint64_t) { return [](task_context&) {}; });
}
simulation::~simulation() = default;

void simulation::compute_bounds() {
  const std::lock_guard lock(mutex_);
  for (const scenario& s : experiment_.scenarios) {
    // "none" comes first; how long a disturbed run is at most is not known, so this much longer than that.
    double longest_s = s.parts.empty() ? 1.0 : 4.0 * bound_of(experiment_.scenarios.front(), measured_.rates);
    for (const disturbance& d : s.parts) longest_s = std::max(longest_s, 2.0 * d.half_period_s);
    for (const active_set set : sets_within(s.parts, longest_s)) {
      if (set == 0 && !s.parts.empty()) continue;  // the undisturbed rates serve
      measured_.rates.push_back({s.name, set, {simulated_rates(*experiment_.simulated, experiment_.kernel, experiment_.tile, steady_parts(s.parts, set))}});
    }
  }
}

sim::engine_options simulated_options(const experiment& e, const scenario& s, const std::string& policy, std::uint32_t repeat, double expected_s) {
  sim::engine_options o;
  o.policy = make_policy(policy, *e.machine, e.options.policy_settings);
  o.table = e.options.table;
  o.timing = e.options.timing;
  o.seed = random_stream(e.seed, "run", repeat).next();
  o.disturbances = to_simulated(s.parts, *e.simulated, e.co_runner == "fluid", expected_s, o.seed);
  return o;
}

void simulation::run_one(const scenario& s, const std::string& policy, std::uint32_t repeat, bool traced) {
  sim::engine_options o = simulated_options(experiment_, s, policy, repeat, bound_of(s, measured_.rates));
  const machine& m = *experiment_.machine;
  detail d{.policy = policy, .disturb = s.name, .repeat = repeat};
  const sim::engine* running = nullptr;
  std::uint32_t graph = 0;
  if (traced)
    o.finished = [&](const sim::sim_assembly& a, core_id last) {
      const double end_s = const_cast<sim::engine*>(running)->now_s();
      for (std::uint32_t i = 0; i < a.times.size(); ++i) d.events.push_back(task_event(m, a, a.times[i], end_s, i, graph));
      trace::event learned = d.events.back();
      const std::uint32_t row = kilter::detail::graph_of(a.task).kinds[a.task->kind].row;
      learned.kind = trace::event_kind::table;
      learned.start_ns = learned.end_ns;
      learned.core = last;
      learned.value = static_cast<float>(running->learned().time_s(row, a.where));
      learned.aux = static_cast<float>(running->learned().slowdown(last));
      d.events.push_back(learned);
    };
  sim::engine engine(*experiment_.simulated, o);
  running = &engine;
  for (; graph < experiment_.graphs && !interrupted(); ++graph) {
    run_row row{.policy = policy, .disturb = s.name, .repeat = repeat, .graph = graph};
    if (!experiment_.root_outside) row.root_core = repeat % m.core_count();
    row.stats = engine.run(graph_, {{"task", 0.0}, {experiment_.kernel, static_cast<double>(experiment_.tile)}}, row.root_core.value_or(no_core));
    d.seconds = row.stats.seconds;
    row.throughput_per_s = static_cast<double>(row.stats.tasks) / row.stats.seconds;
    double got_s = 0.0, there_s = 0.0;
    for (core_id c = 0; c < m.core_count(); ++c) {
      got_s += engine.co_runner(c).got_s;
      there_s += engine.co_runner(c).there_s;
    }
    if (there_s > 0.0) {
      row.achieved_share = 1.0 - got_s / there_s;
      row.disturber_progress = got_s / there_s;
    }
    if (traced) break;
    const std::lock_guard lock(mutex_);
    measured_.runs.push_back(std::move(row));
  }
  if (!traced) return;
  d.types = kilter::detail::graph_access::core(graph_).type_names;
  const std::lock_guard lock(mutex_);
  measured_.details.push_back(std::move(d));
}

void simulation::run() {
  progress_.step("bounds");
  compute_bounds();
  for (const bool traced : {false, true}) {
    if (traced && !experiment_.details) continue;
    for (std::uint32_t repeat = 0; repeat < (traced ? 1 : experiment_.repeats); ++repeat)
      for (const scenario& s : experiment_.scenarios)
        for (const std::string& policy : experiment_.policies) {
          if (interrupted()) return;
          progress_.step(fmt::format("{}{}, {}, repeat {}", traced ? "tracing " : "", policy, s.name, repeat + 1));
          run_one(s, policy, repeat, traced);
        }
  }
  const std::lock_guard lock(mutex_);
  measured_.complete = true;
}

}  // namespace kilter::lab
