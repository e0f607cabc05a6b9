#include "lab/claims/reproduction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <set>

#include "base/installation.hpp"
#include "kilter/error.hpp"
#include "lab/claims/measures.hpp"
#include "lab/claims/properties.hpp"
#include "lab/measuring/experiment.hpp"
#include "lab/measuring/simulation.hpp"
#include "lab/session/interrupt.hpp"

namespace kilter::lab {

namespace {

struct stopped {};

std::string key_of(const experiment_file& f, const selection& run) {
  std::string key = f.name;
  for (const auto& [name, value] : run) key += " " + name + "=" + value;
  return key;
}

const experiment_scenario& scenario_of(const experiment_file& f, const selection& run) {
  const std::string& name = run.at("scenario");
  return *std::ranges::find(f.scenarios, name, &experiment_scenario::name);
}

/// The words of the command line that the run stands for.
bench_arguments arguments_of(const experiment_scenario& s, const selection& run, std::uint32_t seed) {
  selection words = s.parameters;
  for (const auto& [name, value] : run) words[name] = value;
  bench_arguments a;
  const auto take = [&](std::string_view name, std::string& into) {
    if (const auto found = words.find(std::string(name)); found != words.end()) into = found->second;
  };
  a.on = "sim:" + s.platform;
  a.seed = std::to_string(seed);
  a.repeat = "1";
  a.details = false;
  a.policies = {words.at("policy")};
  if (words.at("disturb") != "none") a.disturb = {words.at("disturb")};
  a.workload = s.workload;
  for (const parameter& p : find_workload(s.workload).parameters) take(p.name, a.parameters[std::string(p.name)]);
  take("cores", a.cores);
  take("workers", a.cores);
  take("table", a.table);
  take("weight", a.weight);
  take("co_runner", a.co_runner);
  take("timing", a.timing);
  take("criticality", a.criticality);
  take("local", a.local);
  take("steal", a.steal);
  take("fast", a.fast);
  take("children", a.children);
  take("explore", a.explore);
  take("refresh", a.refresh);
  take("thieves", a.thieves);
  a.direct = words.contains("direct") && words.at("direct") == "yes";
  return a;
}

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

/// What a run is asked to keep beside its sums.
struct watching {
  std::optional<std::string> place;
};

observed run_once(const experiment& e, const scenario& s, double expected_s, const std::optional<watching>& trace = {}) {
  graph g;
  const task_graph made = build(g, e.work, *e.simulated);
  sim::engine_options o = simulated_options(e, s, e.policies.front(), 0, expected_s);
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

}  // namespace

std::string experiments_directory() {
  if (const char* own = std::getenv("KILTER_EXPERIMENTS"); own && *own) {
    if (!std::filesystem::is_directory(own)) throw input_error(fmt::format("KILTER_EXPERIMENTS '{}': is no directory; name the one with the experiment files", own));
    return own;
  }
  std::vector<std::string> places = kilter::detail::data_directories("experiments", KILTER_SOURCE_EXPERIMENTS);
  for (std::string& p : places)
    if (std::filesystem::is_directory(p)) return std::move(p);
  throw input_error(fmt::format("there are no experiment files in {}; set KILTER_EXPERIMENTS to their directory", places.front()));
}

std::vector<std::string> chosen_claims(const std::vector<experiment_file>& files, const std::vector<std::string>& wanted) {
  std::vector<std::string> ids;
  std::set<std::string> found;
  for (const experiment_file& f : files)
    for (const claim& c : f.claims)
      for (const std::string& w : wanted)
        if (w == "all" || w == c.id || c.id.starts_with(w + "-")) {
          if (std::ranges::find(ids, c.id) == ids.end()) ids.push_back(c.id);
          found.insert(w);
        }
  for (const std::string& w : wanted)
    if (!found.contains(w)) throw input_error("claim '" + w + "': there is none; use all, a paper (S0, S2, S3, S4) or an id as S0-11");
  return ids;
}

reproduction::reproduction(std::vector<experiment_file> files, bool draws) : files_(std::move(files)), draws_(draws) {}

const std::vector<observed>& reproduction::runs_of(const experiment_file& f, const selection& run, progress& p) {
  const auto [at, fresh] = done_.try_emplace(key_of(f, run));
  if (!fresh) return at->second;
  p.step(at->first);
  const experiment_scenario& s = scenario_of(f, run);
  for (std::uint32_t seed = 1; seed <= s.seeds * s.draws; ++seed) {
    if (interrupted()) throw stopped{};
    const experiment e = plan(arguments_of(s, run, seed));
    const scenario& undisturbed = e.scenarios.front();
    const scenario& disturbed = e.scenarios.back();
    // A window in parts of a run is of the run as it would be without what the window brings.
    const double expected_s = in_parts_of_a_run(disturbed.parts) ? run_once(e, undisturbed, 0.0).makespan_s() : 0.0;
    const auto trace = seed == 1 ? traced_.find(at->first) : traced_.end();
    at->second.push_back(run_once(e, disturbed, expected_s, trace == traced_.end() ? std::nullopt : std::optional(watching{trace->second})));
  }
  return at->second;
}

const std::vector<thread_run>& reproduction::thread_runs_of(const experiment_file& f, const selection& run, progress& p) {
  const auto [at, fresh] = threads_done_.try_emplace(key_of(f, run));
  if (!fresh) return at->second;
  p.step(at->first);
  const experiment_scenario& s = scenario_of(f, run);
  for (std::uint32_t seed = 1; seed <= s.seeds * s.draws; ++seed) {
    if (interrupted()) throw stopped{};
    at->second.push_back(run_threads_of(s, run, seed));
  }
  return at->second;
}

namespace {

/// One number for each seed: the mean over its draws.
std::vector<double> over_draws(const std::vector<double>& values, std::uint32_t draws) {
  std::vector<double> means;
  for (std::size_t i = 0; i < values.size(); i += draws)
    means.push_back(std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(i), values.begin() + static_cast<std::ptrdiff_t>(i + draws), 0.0) / draws);
  return means;
}

}  // namespace

std::vector<double> reproduction::values_of(const experiment_file& f, const cell& c, progress& p) {
  if (find_measure(c.measure)->property) return {property_value(c.measure, c.run)};
  if (scenario_of(f, c.run).of_threads())
    return thread_values(scenario_of(f, c.run), c, [&](const selection& run) -> const std::vector<thread_run>& { return thread_runs_of(f, run, p); });
  std::vector<double> values;
  if (c.measure == "parallel_efficiency") {
    selection alone = c.run;
    alone["workers"] = "1";
    const auto& all = runs_of(f, c.run, p);
    const auto& one = runs_of(f, alone, p);
    const double workers = std::stod(c.run.at("workers"));
    for (std::size_t i = 0; i < all.size(); ++i) values.push_back(one[i].makespan_s() / (workers * all[i].makespan_s()));
  } else {
    for (const observed& o : runs_of(f, c.run, p)) values.push_back(o.value(c.measure, c.what));
  }
  return over_draws(values, scenario_of(f, c.run).draws);
}

std::uint64_t reproduction::steps(const std::vector<std::string>& ids) const {
  std::set<std::string> runs;
  const auto note = [&](const experiment_file& f, const quantity& q) {
    for (const auto* side : {&q.left, &q.right})
      for (const cell& c : *side)
        if (!find_measure(c.measure)->property) {
          const experiment_scenario& s = scenario_of(f, c.run);
          if (s.of_threads())
            for (const selection& run : thread_runs_behind(s, c)) runs.insert(key_of(f, run));
          else
            runs.insert(key_of(f, c.run));
        }
  };
  for (const experiment_file& f : files_) {
    for (const figure* one : figures_of(f, ids))
      for (const figure_point& p : one->points) note(f, p.of);
    for (const claim& c : f.claims) {
      if (std::ranges::find(ids, c.id) == ids.end()) continue;
      for (const planned_case& one : c.cases) note(f, one.of);
      for (const planned_value& v : c.values) note(f, v.of);
    }
  }
  return runs.size();
}

std::vector<const figure*> reproduction::figures_of(const experiment_file& f, const std::vector<std::string>& ids) const {
  std::vector<const figure*> all;
  for (const figure& one : f.figures)
    if (draws_ && belongs_to(one, ids)) all.push_back(&one);
  return all;
}

drawn_figure reproduction::drawn(const experiment_file& f, const figure& one, progress& p) {
  drawn_figure d = draw(one, [&](const cell& c) { return values_of(f, c, p); });
  d.experiment = f.name;
  if (one.kind == figure_kind::starts)
    for (const figure_point& point : one.points) d.traces.push_back(*runs_of(f, point.of.left.front().run, p).front().traced());
  return d;
}

reproduced reproduction::run(const std::vector<std::string>& ids, progress& p) {
  reproduced results;
  try {
    for (const experiment_file& f : files_) {
      const auto figures = figures_of(f, ids);
      for (const figure* one : figures)
        if (one->kind == figure_kind::starts)
          for (const figure_point& point : one->points) traced_[key_of(f, point.of.left.front().run)] = one->learned;
      for (const claim& c : f.claims) {
        if (std::ranges::find(ids, c.id) == ids.end()) continue;
        claim_result r = judge(c, [&](const cell& one) { return values_of(f, one, p); });
        r.experiment = f.name;
        r.command = "kilter reproduce " + c.id;
        results.claims.push_back(std::move(r));
      }
      for (const figure* one : figures) results.figures.push_back(drawn(f, *one, p));
      done_.clear();  // no claim and no figure looks at runs of another file
      threads_done_.clear();
    }
  } catch (const stopped&) {
  }
  return results;
}

}  // namespace kilter::lab
