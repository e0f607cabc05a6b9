#include "lab/claims/task_measures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "kilter/error.hpp"
#include "lab/measuring/experiment.hpp"
#include "lab/measuring/simulation.hpp"
#include "lab/statistics/stats.hpp"

namespace kilter::lab {

namespace {

constexpr std::string_view efficiency = "parallel_efficiency";

bool in_parts_of_a_run(const std::vector<disturbance>& parts) {
  return std::ranges::any_of(parts, [](const disturbance& d) { return d.window && d.window->fractions; });
}

/// "1,2": leader and width.
place_id place_of(const machine& m, const std::string& text) {
  const auto comma = text.find(',');
  const place p{static_cast<core_id>(std::stoul(text.substr(0, comma))), static_cast<std::uint32_t>(std::stoul(text.substr(comma + 1)))};
  const auto found = m.find(p);
  if (!found) throw input_error(fmt::format("{} has no place ({}) to watch", m.name(), text));
  return *found;
}

observed run_once(const experiment& e, const scenario& s, double expected_s, const std::optional<watching>& trace = {}) {
  graph g;
  const task_graph made = build(g, e.work, *e.simulated);
  sim::engine_options o = simulated_options(e, s, e.policies.front(), 0, expected_s);
  o.apart = made.apart;
  observed seen(*e.simulated, o.disturbances);
  if (trace) seen.trace(trace->place ? std::optional(place_of(*e.machine, *trace->place)) : std::nullopt);
  sim::engine* running = nullptr;
  o.finished = [&](const sim::sim_assembly& a, core_id) {
    seen.add(*running, a, running->now_s(), made.iteration.empty() ? 0 : made.iteration[kilter::detail::id_of(a.task)]);
  };
  sim::engine engine(*e.simulated, o);
  running = &engine;
  seen.finish(engine, engine.run(g, made.types, 0), kilter::detail::graph_access::core(g).type_names);
  return seen;
}

selection alone(const selection& run) {
  selection one = run;
  one["workers"] = "1";
  return one;
}

}  // namespace

specification specification_of(const experiment_scenario& s, const selection& run, std::uint32_t seed) {
  selection words = s.parameters;
  for (const auto& [name, value] : run) words[name] = value;
  specification a;
  a.on = s.on;
  a.seed = seed;
  a.repeats = 1;
  a.details = false;
  a.policy_lists.clear();
  parameter_values parameters;
  for (const auto& [name, value] : words) {
    if (find_setting(name))
      read_setting(a, name, value);
    else if (name != "scenario")
      parameters[name] = value;
  }
  a.work = make_workload(s.workload, parameters);
  return a;
}

observed run_tasks_of(const experiment_scenario& s, const selection& run, std::uint32_t seed, const std::optional<watching>& trace) {
  const experiment e = plan(specification_of(s, run, seed));
  const scenario& undisturbed = e.scenarios.front();
  const scenario& disturbed = e.scenarios.back();
  // A window in parts of a run is of the run as it would be without what the window brings.
  const double expected_s = in_parts_of_a_run(disturbed.parts) ? run_once(e, undisturbed, 0.0).makespan_s() : 0.0;
  return run_once(e, disturbed, expected_s, trace);
}

std::vector<selection> task_runs_behind(const cell& c) {
  if (c.measure == efficiency) return {c.run, alone(c.run)};
  return {c.run};
}

std::vector<double> task_values(const experiment_scenario& s, const cell& c, const task_runs& runs) {
  std::vector<double> values;
  if (c.measure == efficiency) {
    const auto& all = runs(c.run);
    const auto& one = runs(alone(c.run));
    const double workers = std::stod(c.run.at("workers"));
    for (std::size_t i = 0; i < all.size(); ++i) values.push_back(one[i].makespan_s() / (workers * all[i].makespan_s()));
  } else {
    for (const observed& o : runs(c.run)) values.push_back(o.value(c.measure, c.what));
  }
  std::vector<double> means;
  for (std::size_t i = 0; i < values.size(); i += s.draws) means.push_back(mean(std::span(values).subspan(i, s.draws)));
  return means;
}

}  // namespace kilter::lab
