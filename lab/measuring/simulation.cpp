#include "measuring/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "base/random.hpp"
#include "kilter/error.hpp"
#include "runtime/saved_table.hpp"
#include "session/interrupt.hpp"
#include "trace/event.hpp"

namespace kilter::lab {

namespace {

/// Co-runners are chains of 64 x 64 products or of 1024 x 1024 copies (papers.md A1.3).
struct co_runner_kernel {
  const char* name;
  double size;
};
co_runner_kernel co_runner_of(disturbance_kind k) {
  return k == disturbance_kind::mem ? co_runner_kernel{"copy", 1024}
                                    : co_runner_kernel{"matmul", 64};
}

trace::event task_event(const machine& m, const sim::sim_assembly& a, std::uint32_t member,
                        std::uint32_t graph) {
  const member_time& t = a.times[member];
  trace::event e;
  e.kind = trace::event_kind::task;
  e.start_ns = static_cast<std::int64_t>(a.came_s[member] * 1e9);
  e.end_ns = static_cast<std::int64_t>((a.came_s[member] + t.seconds) * 1e9);
  e.core = t.core;
  e.task = static_cast<std::uint32_t>(kilter::detail::id_of(a.task));
  e.graph = graph;
  e.leader = m.at(a.where).leader;
  e.width = static_cast<std::uint16_t>(m.at(a.where).width);
  e.type = kilter::detail::graph_of(a.task).kinds[a.task->kind].type;
  e.member = static_cast<std::uint16_t>(member);
  e.flags = static_cast<std::uint8_t>(
      (a.task->flags & kilter::detail::flag_critical ? trace::event_flag::critical : 0) |
      (a.stolen ? trace::event_flag::stolen : 0) | (a.at.width > 1 ? trace::event_flag::wide : 0));
  return e;
}

}  // namespace

std::vector<sim::disturbance> to_simulated(const std::vector<disturbance>& parts,
                                           const sim::platform& p, bool fluid, double expected_s,
                                           std::uint64_t seed) {
  std::vector<sim::disturbance> all;
  for (const disturbance& d : parts) {
    sim::disturbance s{.cores = d.cores,
                       .left = d.share,
                       .slice_s = p.co_runner.slice_s,
                       .half_period_s = d.half_period_s};
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
      case disturbance_kind::quota:
        s.what = sim::disturbance::kind::quota;
        all.push_back(s);
        break;
      case disturbance_kind::offline:
        s.what = sim::disturbance::kind::offline;
        all.push_back(s);
        break;
      case disturbance_kind::freq:
        // A cluster has one clock: each kind that is named changes once.
        s.what = sim::disturbance::kind::clock;
        for (kind_id k = 0; k < p.cores->kinds().size(); ++k) {
          const auto first = std::ranges::find_if(
              d.cores, [&](core_id c) { return p.cores->cores()[c].kind == k; });
          if (first == d.cores.end()) continue;
          s.cores = {*first};
          all.push_back(s);
        }
        break;
      case disturbance_kind::cpu:
      case disturbance_kind::mem:
      case disturbance_kind::session:
      case disturbance_kind::floating:
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
            one.traffic = k->bytes * k->bytes_factor(size) / k->seconds_at(size, 0) *
                          (fluid ? 1.0 - one.left : 1.0);
            one.working_set = k->working_set * k->bytes_factor(size);
          }
          all.push_back(one);
        }
    }
  }
  return all;
}

std::vector<double> left_of_cores(const sim::platform& p, const std::vector<disturbance>& steady,
                                  bool fluid, double of_slices) {
  const machine& m = *p.cores;
  std::vector<double> left(m.core_count(), 1.0);
  for (const sim::disturbance& d : to_simulated(steady, p, fluid, 0.0, 1)) {
    const kind_id kind = m.cores()[d.cores.front()].kind;
    using enum sim::disturbance::kind;
    if (d.what == quota) continue;  // not of a core's: paid_cores
    const double part = d.what == offline  ? 0.0
                        : d.what == sliced ? of_slices
                        : d.what == clock  ? p.clocks[kind].nearest(d.left)
                                           : d.left;
    for (core_id c = 0; c < m.core_count(); ++c)
      if ((d.what == clock && m.cores()[c].kind == kind) ||
          std::ranges::find(d.cores, c) != d.cores.end())
        left[c] *= part;
  }
  return left;
}

double paid_cores(const sim::platform& p, const std::vector<disturbance>& steady) {
  double paid = p.cores->core_count();
  for (const disturbance& d : steady)
    if (d.kind == disturbance_kind::quota) paid *= d.share;
  return paid;
}

namespace {

/// A quota is best spent on the cores that do most in a second of CPU time.
void spend(double paid, const std::vector<double>& per_cpu_s, std::vector<double>& per_s) {
  std::vector<core_id> best_first(per_s.size());
  std::iota(best_first.begin(), best_first.end(), core_id{0});
  std::ranges::stable_sort(best_first, std::greater{}, [&](core_id c) { return per_cpu_s[c]; });
  for (const core_id c : best_first) {
    if (per_s[c] <= 0.0) continue;
    const double part = std::min(per_s[c] / per_cpu_s[c], paid);
    per_s[c] = per_cpu_s[c] * part;
    paid -= part;
  }
}

rate_sample rates_of(const sim::platform& p, const sim::type_work& what,
                     const std::vector<std::uint32_t>& allowed, const std::vector<double>& left,
                     const std::vector<double>& left_at_best, double paid) {
  const machine& m = *p.cores;
  rate_sample r;
  r.chain_paid_per_s = 0.0;
  if (what.fixed_s > 0.0) {
    r.alone_per_s.assign(m.core_count(), 1.0 / what.fixed_s);
    r.chain_paid_per_s = paid / what.fixed_s;
    r.together_per_s.assign(m.core_count(), 1.0 / what.fixed_s);
    spend(paid, std::vector<double>(m.core_count(), 1.0 / what.fixed_s), r.together_per_s);
    return r;
  }
  r.alone_per_s.assign(m.core_count(), 0.0);
  r.together_per_s.assign(m.core_count(), 0.0);
  if (what.kernel.empty()) return r;
  std::vector<double> per_cpu_s(m.core_count(), 0.0);
  for (place_id at = 0; at < m.places().size(); ++at) {
    const place where = m.at(at);
    if (!allowed.empty() && std::ranges::find(allowed, where.width) == allowed.end()) continue;
    const sim::kernel_cost* k = p.find(what.kernel, what.size, m.cores()[where.leader].kind);
    if (!k)
      throw input_error(
          fmt::format("platform {} has no figures for kernel '{}'", p.name, what.kernel));
    const auto widths = p.widths(k->kind);
    const auto index =
        static_cast<std::size_t>(std::ranges::find(widths, where.width) - widths.begin());
    double shares = 0.0;
    for (core_id c = where.leader; c < where.leader + where.width; ++c) shares += left_at_best[c];
    const auto& clock = p.clocks[k->kind];
    const double faster = k->mhz > 0.0 && !clock.mhz.empty() ? clock.mhz.back() / k->mhz : 1.0;
    const double per_s = faster / k->seconds_at(what.size, index);
    const double bytes = k->bytes * k->bytes_factor(what.size);
    const auto carried = [bytes](double bytes_per_s, double members) {
      return bytes > 0.0 && bytes_per_s > 0.0 ? bytes_per_s * members / bytes
                                              : std::numeric_limits<double>::infinity();
    };
    const double core = p.core_bytes_per_s[k->kind];
    const double place_carries =
        std::min({carried(core, where.width), carried(p.cluster_bytes_per_s[k->kind], 1.0),
                  carried(p.chip_bytes_per_s, 1.0)});
    // The fastest place for a chain counts for its leader, the cheapest for capacity for each of
    // its cores. What is paid for a chain may use at several places in turn.
    r.alone_per_s[where.leader] = std::max(r.alone_per_s[where.leader],
                                           std::min(per_s * shares / where.width, place_carries));
    r.chain_paid_per_s = std::max(r.chain_paid_per_s, per_s / where.width * paid);
    for (core_id c = where.leader; c < where.leader + where.width; ++c) {
      per_cpu_s[c] = std::max(per_cpu_s[c], per_s / where.width);
      r.together_per_s[c] = std::max(r.together_per_s[c],
                                     std::min(per_s / where.width * left[c], carried(core, 1.0)));
    }
  }
  if (paid < m.core_count()) spend(paid, per_cpu_s, r.together_per_s);
  return r;
}

/// What one task must move at least, on whichever kind needs least.
double least_bytes(const sim::platform& p, const sim::type_work& what) {
  if (what.kernel.empty() || what.fixed_s > 0.0) return 0.0;
  double least = std::numeric_limits<double>::infinity();
  for (kind_id kind = 0; kind < p.cores->kinds().size(); ++kind)
    if (const sim::kernel_cost* k = p.find(what.kernel, what.size, kind))
      least = std::min(least, k->bytes * k->bytes_factor(what.size));
  return least;
}

/// What all cores together can move, within the limits of cores, clusters and chips.
double memory_bytes_per_s(const sim::platform& p) {
  const auto within = [](double wanted, double limit) {
    return limit > 0.0 ? std::min(wanted, limit) : wanted;
  };
  const double unlimited = std::numeric_limits<double>::infinity();
  const auto clusters = p.cores->clusters();
  const std::size_t per_chip = p.network ? p.network->clusters_per_node : clusters.size();
  double all = 0.0, chip = 0.0;
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    const cluster& c = clusters[i];
    const double cores =
        p.core_bytes_per_s[c.kind] > 0.0 ? c.size * p.core_bytes_per_s[c.kind] : unlimited;
    chip += within(cores, p.cluster_bytes_per_s[c.kind]);
    if ((i + 1) % per_chip != 0 && i + 1 != clusters.size()) continue;
    all += within(chip, p.chip_bytes_per_s);
    chip = 0.0;
  }
  return all;
}

/// Seconds of one task on all cores together, and on the fastest place. Of what does nothing: 0.
double together_s(const rate_sample& r) {
  const double per_s = std::accumulate(r.together_per_s.begin(), r.together_per_s.end(), 0.0);
  return per_s > 0.0 ? 1.0 / per_s : 0.0;
}
double alone_s(const rate_sample& r) {
  const double per_s = *std::ranges::max_element(r.alone_per_s);
  return per_s > 0.0 ? 1.0 / per_s : 0.0;
}

}  // namespace

std::vector<rate_sample> simulated_rates(const sim::platform& p,
                                         const std::vector<sim::type_work>& types,
                                         const std::vector<disturbance>& steady, bool fluid,
                                         const std::vector<std::vector<std::uint32_t>>& widths) {
  const std::vector<double> left = left_of_cores(p, steady, fluid, 0.5),
                            left_at_best = left_of_cores(p, steady, fluid, 1.0);
  const double paid = paid_cores(p, steady);
  std::vector<rate_sample> rates;
  const std::vector<std::uint32_t> every;
  for (std::size_t t = 0; t < types.size(); ++t)
    rates.push_back(
        rates_of(p, types[t], t < widths.size() ? widths[t] : every, left, left_at_best, paid));
  return rates;
}

double sequential_s(graph& g, const sim::platform& p, const std::vector<sim::type_work>& types) {
  double least = std::numeric_limits<double>::infinity();
  for (kind_id k = 0; k < p.cores->kinds().size(); ++k) {
    std::vector<double> by_type;
    for (const sim::type_work& what : types)
      by_type.push_back(what.kernel.empty() ? what.fixed_s
                                            : sim::cost_of(p, what, k).seconds.front());
    least = std::min(least, measure(
                                g, [&](const task_facts& t) { return t.work * by_type[t.type]; },
                                [](const task_facts&) { return 0.0; })
                                .work_s);
  }
  return least;
}

mixed_tasks::mixed_tasks(graph& g, const sim::platform& p, const std::vector<sim::type_work>& types,
                         const std::vector<rate_sample>& undisturbed)
    : mixed_tasks(g, undisturbed) {
  const double bytes =
      measure(
          g, [&](const task_facts& t) { return t.work * least_bytes(p, types[t.type]); },
          [](const task_facts&) { return 0.0; })
          .work_s;
  if (bytes > 0.0) carried_per_s_ = static_cast<double>(tasks_) / bytes * memory_bytes_per_s(p);
}

mixed_tasks::mixed_tasks(graph& g, const std::vector<rate_sample>& undisturbed) : tasks_(g.size()) {
  for (const rate_sample& r : undisturbed) {
    work_weight_.push_back(together_s(r));
    path_weight_.push_back(alone_s(r));
  }
  const graph_length length = measure(
      g, [&](const task_facts& t) { return t.work * work_weight_[t.type]; },
      [&](const task_facts& t) { return t.work * path_weight_[t.type]; });
  path_tasks_ = length.path_tasks;
  for (double& w : work_weight_) w *= static_cast<double>(tasks_) / length.work_s;
  for (double& w : path_weight_) w *= static_cast<double>(path_tasks_) / length.path_s;
  (void)measure(
      g,
      [&](const task_facts& t) {
        return largest_ = std::max(largest_, t.work * work_weight_[t.type]);
      },
      [&](const task_facts& t) {
        return path_largest_ = std::max(path_largest_, t.work * path_weight_[t.type]);
      });
}

rate_sample mixed_tasks::rates_of_cores(const std::vector<rate_sample>& by_type) const {
  rate_sample all{.alone_per_s = std::vector<double>(by_type.front().alone_per_s.size()),
                  .together_per_s = {},
                  .chain_paid_per_s = 0.0};
  all.together_per_s = all.alone_per_s;
  for (std::size_t t = 0; t < by_type.size(); ++t) {
    if (path_weight_[t] > 0.0)
      all.chain_paid_per_s =
          std::max(all.chain_paid_per_s, path_weight_[t] * by_type[t].chain_paid_per_s);
    for (core_id c = 0; c < all.alone_per_s.size(); ++c) {
      all.alone_per_s[c] =
          std::max(all.alone_per_s[c], path_weight_[t] * by_type[t].alone_per_s[c]);
      all.together_per_s[c] =
          std::max(all.together_per_s[c], work_weight_[t] * by_type[t].together_per_s[c]);
    }
  }
  for (double& per_s : all.alone_per_s) per_s = std::min(per_s, all.chain_paid_per_s);
  return all;
}

rate_sample mixed_tasks::rates(const std::vector<rate_sample>& by_type) const {
  rate_sample all = rates_of_cores(by_type);
  const double together_per_s =
      std::accumulate(all.together_per_s.begin(), all.together_per_s.end(), 0.0);
  if (together_per_s > carried_per_s_)
    for (double& per_s : all.together_per_s) per_s *= carried_per_s_ / together_per_s;
  return all;
}

simulation::simulation(experiment e, progress& p) : modelled(std::move(e), p, nullptr) {
  if (experiment_.data == far_data::free) return;
  if (made_.data.empty())
    measured_.notes.push_back(
        fmt::format("No data are moved: the tasks of {} do not say which they work on.",
                    name_of(experiment_.work)));
  if (!experiment_.simulated->moved_line.told())
    measured_.notes.push_back(
        fmt::format("No data are moved: platform {} does not say what a moved line takes "
                    "([moved_line]).",
                    experiment_.simulated->name));
}

void add_graph(sim::engine_options& o, const experiment& e, const task_graph& made) {
  o.apart = made.apart;
  if (e.data == far_data::moved) o.data = made.data;
}

sim::engine_options simulated_options(const experiment& e, const scenario& s,
                                      const std::string& policy, std::uint32_t repeat,
                                      double expected_s) {
  sim::engine_options o;
  o.policy = policy_of(policy, e);
  o.table = e.options.table;
  o.timing = e.options.timing;
  o.first_thief = e.thieves == who_steals::first;
  o.spared = e.thieves == who_steals::spare_two ? 2 : 0;
  o.blocks = e.blocks == cut_of_wide::task ? sim::block_count::task : sim::block_count::member;
  o.learned = e.learned;
  o.seed = random_stream(e.seed, "run", repeat).next();
  o.stopped = interrupted;
  o.horizon_s = std::max(o.horizon_s, 1e3 * expected_s);
  if (e.costs == known_costs::truth) o.true_costs_over_s = expected_s;
  o.disturbances =
      to_simulated(s.parts, *e.simulated, e.co_runner == co_running::fluid, expected_s, o.seed);
  return o;
}

void simulation::run_one(const scenario& s, const std::string& policy, std::uint32_t repeat,
                         bool traced) {
  sim::engine_options o =
      simulated_options(experiment_, s, policy, repeat, bound_of(s, measured_.rates));
  const machine& m = *experiment_.machine;
  detail d{.policy = policy, .disturb = s.name, .repeat = repeat};
  const sim::engine* running = nullptr;
  std::uint32_t graph = 0;
  const discipline asked = o.policy->queues(m);
  const bool learns = asked.learns || asked.asks_done;
  add_graph(o, experiment_, made_);
  if (traced)
    o.finished = [&](const sim::sim_assembly& a, core_id last) {
      for (std::uint32_t i = 0; i < a.times.size(); ++i)
        d.events.push_back(task_event(m, a, i, graph));
      if (!learns) return;
      trace::event learned = d.events.back();
      const std::uint32_t row = kilter::detail::graph_of(a.task).kinds[a.task->kind].row;
      learned.kind = trace::event_kind::table;
      learned.start_ns = learned.end_ns =
          static_cast<std::int64_t>(const_cast<sim::engine*>(running)->now_s() * 1e9);
      learned.core = last;
      learned.value = static_cast<float>(running->learned().time_s(row, a.where));
      learned.aux = static_cast<float>(running->learned().slowdown(last));
      d.events.push_back(learned);
    };
  sim::engine engine(*experiment_.simulated, o);
  running = &engine;
  for (; graph < experiment_.graphs && !interrupted(); ++graph) {
    run_row row{.policy = policy, .disturb = s.name, .repeat = repeat, .graph = graph};
    if (experiment_.root == submitter::core) row.root_core = repeat % m.core_count();
    const std::optional<double> before_j = engine.energy_j();
    try {
      row.stats = engine.run(graph_, made_.types, row.root_core.value_or(no_core));
    } catch (const cancelled_error&) {
      return;
    }
    if (const std::optional<double> after_j = engine.energy_j())
      row.energy_j = *after_j - *before_j;
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
    if (const std::string note = "No energy: " + engine.energy_gap() + ".";
        !experiment_.on.ideal && !engine.energy_gap().empty() &&
        std::ranges::find(measured_.notes, note) == measured_.notes.end())
      measured_.notes.push_back(note);
  }
  if (!traced) {
    if (saves_table(experiment_, s, repeat))
      save_table([&] { model::write_table(experiment_.save_table, engine.learned().save(), m); });
    return;
  }
  d.types = kilter::detail::graph_access::core(graph_).type_names;
  const std::lock_guard lock(mutex_);
  measured_.details.push_back(std::move(d));
}

}  // namespace kilter::lab
