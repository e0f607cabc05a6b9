#include "claims/task_measures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "kilter/error.hpp"
#include "measuring/experiment.hpp"
#include "measuring/simulation.hpp"
#include "sim/engine.hpp"
#include "statistics/stats.hpp"

namespace kilter::lab {

namespace {

constexpr std::string_view efficiency = "parallel_efficiency";

/// "1,2": leader and width.
place_id place_of(const machine& m, const std::string& text) {
  const auto comma = text.find(',');
  const place p{static_cast<core_id>(std::stoul(text.substr(0, comma))),
                static_cast<std::uint32_t>(std::stoul(text.substr(comma + 1)))};
  const auto found = m.find(p);
  if (!found) throw input_error(fmt::format("{} has no place ({}) to watch", m.name(), text));
  return *found;
}

std::vector<presence_window> windows_of(const std::vector<sim::disturbance>& all) {
  std::vector<presence_window> windows;
  for (const sim::disturbance& d : all)
    windows.push_back(
        {d.from_s, d.to_s, d.what == sim::disturbance::kind::sliced ? 0.0 : d.half_period_s});
  return windows;
}

bool all_tried(const sim::engine& e, std::size_t places) {
  for (model::row_id r = 0; r < e.learned().row_count(); ++r)
    for (place_id p = 0; p < places; ++p)
      if (e.learned().time_s(r, p) <= 0.0) return false;
  return true;
}

observed run_once(const experiment& e, const scenario& s, double expected_s,
                  const std::optional<watching>& trace = {}) {
  graph g;
  const task_graph made = build(g, e.work, *e.simulated);
  sim::engine_options o = simulated_options(e, s, e.policies.front(), 0, expected_s);
  add_graph(o, e, made);
  observed seen(e.simulated->cores, presence_times(windows_of(o.disturbances)));
  const auto watched =
      trace && trace->place ? std::optional(place_of(*e.machine, *trace->place)) : std::nullopt;
  if (trace) seen.trace();
  sim::engine* running = nullptr;
  o.finished = [&](const sim::sim_assembly& a, core_id) {
    const double now_s = running->now_s();
    seen.add(
        {.start_s = a.came_s.front(),
         .end_s = now_s,
         .where = a.where,
         .critical = (a.task->flags & kilter::detail::flag_critical) != 0,
         .beyond_cache = a.beyond_cache,
         .iteration = made.iteration.empty() ? 0 : made.iteration[kilter::detail::id_of(a.task)]});
    if (a.where == watched) {
      const kilter::detail::task_kind& kind = kilter::detail::graph_of(a.task).kinds[a.task->kind];
      seen.add_learned({now_s, kind.type, running->learned().time_s(kind.row, a.where)});
    }
    if (!seen.trained() && all_tried(*running, e.machine->places().size())) seen.add_trained();
  };
  sim::engine engine(*e.simulated, o);
  running = &engine;
  const execution_stats stats = engine.run(g, made.types, 0);
  for (core_id c = 0; c < e.machine->core_count(); ++c)
    seen.add_co_runner(engine.co_runner(c).got_s, engine.co_runner(c).there_s);
  seen.finish(stats, kilter::detail::graph_access::core(g).type_names);
  return seen;
}

selection alone(const selection& run) {
  selection one = run;
  one["workers"] = "1";
  return one;
}

}  // namespace

bool in_parts_of_a_run(const std::vector<disturbance>& parts) {
  return std::ranges::any_of(parts,
                             [](const disturbance& d) { return d.window && d.window->fractions; });
}

specification specification_of(const experiment_scenario& s, const selection& run,
                               std::uint32_t seed) {
  selection words = s.parameters;
  for (const auto& [name, value] : run) words[name] = value;
  if (const auto left_out = words.extract("undisturbed"); left_out && left_out.mapped() == "yes")
    words["disturb"] = "none";
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
  if (!s.natively()) a.work = make_workload(s.workload, parameters);
  return a;
}

observed run_tasks_of(const experiment_scenario& s, const selection& run, std::uint32_t seed,
                      const std::optional<watching>& trace) {
  const experiment e = plan(specification_of(s, run, seed));
  const scenario& undisturbed = e.scenarios.front();
  const scenario& disturbed = e.scenarios.back();
  // A window in parts of a run is of the run as it would be without what the window brings.
  const double expected_s =
      in_parts_of_a_run(disturbed.parts) ? run_once(e, undisturbed, 0.0).makespan_s() : 0.0;
  return run_once(e, disturbed, expected_s, trace);
}

std::vector<selection> task_runs_behind(const cell& c) {
  if (c.measure == efficiency) return {c.run, alone(c.run)};
  return {c.run};
}

std::vector<double> task_values(const experiment_scenario& s, const cell& c,
                                const task_runs& runs) {
  std::vector<double> values;
  if (c.measure == efficiency) {
    const auto& all = runs(c.run);
    const auto& one = runs(alone(c.run));
    for (std::size_t i = 0; i < all.size(); ++i)
      values.push_back(one[i].makespan_s() / (all[i].workers() * all[i].makespan_s()));
  } else {
    for (const observed& o : runs(c.run)) values.push_back(o.value(c.measure, c.what));
  }
  std::vector<double> means;
  for (std::size_t i = 0; i < values.size(); i += s.draws)
    means.push_back(mean(std::span(values).subspan(i, s.draws)));
  return means;
}

}  // namespace kilter::lab
