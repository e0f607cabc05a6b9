#include "claims/reproduction.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "claims/measures.hpp"
#include "claims/model_measures.hpp"
#include "claims/native_runs.hpp"
#include "claims/properties.hpp"
#include "claims/task_measures.hpp"
#include "claims/thread_measures.hpp"
#include "kilter/error.hpp"
#include "session/helping_threads.hpp"
#include "session/interrupt.hpp"

namespace kilter::lab {

namespace {

struct stopped {};

std::string key_of(const experiment_file& f, const selection& run) {
  std::string key = f.name;
  for (const auto& [name, value] : run) key += " " + name + "=" + value;
  return key;
}

const experiment_scenario& scenario_of(const experiment_file& f, const selection& run) {
  return *std::ranges::find(f.scenarios, run.at("scenario"), &experiment_scenario::name);
}

const experiment_scenario& native_named(const experiment_file& f, const std::string& name) {
  return *std::ranges::find(f.natives, name, &experiment_scenario::name);
}

bool asked_for(const claim& c, const std::vector<std::string>& ids) {
  return std::ranges::find(ids, c.id) != ids.end();
}

std::vector<selection> runs_behind(const experiment_file& f, const cell& c) {
  if (find_measure(c.measure)->property) return {};
  const experiment_scenario& s = scenario_of(f, c.run);
  switch (s.runs()) {
    case run_kind::threads: return thread_runs_behind(s, c);
    case run_kind::models: return {c.run};
    case run_kind::tasks: break;
  }
  return task_runs_behind(c);
}

/// What native cases of the claims look at, by the name of its scenario.
std::map<std::string, std::set<selection>> native_runs_behind(const experiment_file& f,
                                                              const std::vector<std::string>& ids) {
  std::map<std::string, std::set<selection>> runs;
  for (const claim& c : f.claims) {
    if (!asked_for(c, ids)) continue;
    for (const planned_case& one : c.native)
      for (const auto* side : {&one.of.left, &one.of.right})
        for (const cell& looked_at : *side)
          for (const selection& run : task_runs_behind(looked_at))
            runs[run.at("scenario")].insert(run);
  }
  return runs;
}

/// The native runs of a file.
class native_runs_of_file {
 public:
  native_runs_of_file(const experiment_file& f, const std::vector<std::string>& ids, progress& p)
      : file_(f) {
    for (const auto& [name, runs] : native_runs_behind(f, ids)) {
      results_.merge(run_natively(native_named(f, name), runs, p));
      if (interrupted()) throw stopped{};
    }
  }

  std::vector<double> values(const cell& c) const {
    return task_values(
        native_named(file_, c.run.at("scenario")),
        c, [&](const selection& run) -> const auto& { return results_.at(run); });
  }

 private:
  const experiment_file& file_;
  native_results results_;
};

std::vector<const figure*> figures_of(const experiment_file& f,
                                      const std::vector<std::string>& ids) {
  std::vector<const figure*> all;
  for (const figure& one : f.figures)
    if (belongs_to(one, ids)) all.push_back(&one);
  return all;
}

/// The run whose single events a figure of starts draws, for each of its panels.
std::vector<selection> traced_runs_of(const figure& one) {
  std::vector<selection> runs;
  if (one.kind == figure_kind::starts)
    for (const figure_point& p : one.points) runs.push_back(p.of.left.front().run);
  return runs;
}

/// make(1) .. make(seeds), on as many threads as there are cores. Throws what the first of them
/// threw, and `stopped`.
template <class Run, class Make>
std::vector<Run> made_for_seeds(std::uint32_t seeds, const Make& make) {
  std::vector<std::optional<Run>> made(seeds);
  std::vector<std::exception_ptr> failed(seeds);
  std::atomic<std::uint32_t> next{0};
  helped_by(std::min(seeds, std::max(1u, std::thread::hardware_concurrency())) - 1, [&] {
    for (std::uint32_t i; !interrupted() && (i = next++) < seeds;) try {
        made[i] = make(i + 1);
      } catch (...) {
        failed[i] = std::current_exception();
      }
  });
  for (const std::exception_ptr& e : failed)
    if (e) std::rethrow_exception(e);
  std::vector<Run> all;
  for (std::optional<Run>& one : made) {
    if (!one) throw stopped{};
    all.push_back(std::move(*one));
  }
  return all;
}

/// The runs of one file, each made when it is first asked for, and the numbers that are taken of
/// them.
class runs_of_file {
 public:
  runs_of_file(const experiment_file& f, const std::vector<const figure*>& figures, progress& p)
      : file_(f), progress_(p) {
    for (const figure* one : figures)
      for (const selection& run : traced_runs_of(*one))
        traced_[key_of(f, run)] = watching{one->learned};
  }

  /// One number a seed.
  std::vector<double> values(const cell& c) {
    if (find_measure(c.measure)->property) return {property_value(c.measure, c.run)};
    const experiment_scenario& s = scenario_of(file_, c.run);
    if (s.runs() == run_kind::threads)
      return thread_values(
          s, c, [&](const selection& run) -> const auto& { return of_threads(run); });
    if (s.runs() == run_kind::models) return model_values(s, c, of_models(c.run));
    return task_values(
        s, c, [&](const selection& run) -> const auto& { return of_tasks(run); });
  }

  /// With the runs' events where it draws them.
  drawn_figure drawn(const figure& one) {
    drawn_figure d = draw(one, [&](const cell& c) { return values(c); });
    d.experiment = file_.name;
    for (const selection& run : traced_runs_of(one))
      d.traces.push_back(*of_tasks(run).front().traced());
    return d;
  }

 private:
  /// Of all seeds.
  template <class Run, class Make>
  const std::vector<Run>& made_once(std::map<std::string, std::vector<Run>>& done,
                                    const selection& run, const Make& make) {
    const auto [at, fresh] = done.try_emplace(key_of(file_, run));
    if (!fresh) return at->second;
    progress_.step(at->first);
    const experiment_scenario& s = scenario_of(file_, run);
    at->second =
        made_for_seeds<Run>(s.seeds * s.draws, [&](std::uint32_t seed) { return make(s, seed); });
    return at->second;
  }

  const std::vector<observed>& of_tasks(const selection& run) {
    return made_once(tasks_, run, [&](const experiment_scenario& s, std::uint32_t seed) {
      const auto trace = seed == 1 ? traced_.find(key_of(file_, run)) : traced_.end();
      return run_tasks_of(s, run, seed,
                          trace == traced_.end() ? std::nullopt : std::optional(trace->second));
    });
  }

  const std::vector<thread_run>& of_threads(const selection& run) {
    return made_once(threads_, run, [&](const experiment_scenario& s, std::uint32_t seed) {
      return run_threads_of(s, run, seed);
    });
  }

  const std::vector<model_run>& of_models(const selection& run) {
    return made_once(models_, run, [&](const experiment_scenario& s, std::uint32_t seed) {
      return run_model_of(s, run, seed);
    });
  }

  const experiment_file& file_;
  progress& progress_;
  std::map<std::string, watching> traced_;  // by run
  std::map<std::string, std::vector<observed>> tasks_;
  std::map<std::string, std::vector<thread_run>> threads_;
  std::map<std::string, std::vector<model_run>> models_;
};

/// `results`: of the file's claims among others.
void judge_natively(const experiment_file& f, const std::vector<std::string>& ids,
                    std::vector<claim_result>& results, progress& p) {
  const native_runs_of_file runs(f, ids, p);
  for (const claim& c : f.claims)
    if (const auto at = std::ranges::find(results, c.id, &claim_result::id);
        at != results.end() && !c.native.empty()) {
      at->native = judge_native(c, [&](const cell& one) { return runs.values(one); });
      at->native->measured = measured_here();
      at->native->scenarios = native_scenarios_behind(f, c);
    }
}

}  // namespace

reproduction::reproduction(std::vector<experiment_file> files, const reproduction_extras& extras)
    : files_(std::move(files)), extras_(extras) {}

std::uint64_t reproduction::steps(const std::vector<std::string>& ids) const {
  std::set<std::string> runs;
  std::uint64_t natively = 0;
  const auto note = [&](const experiment_file& f, const quantity& q) {
    for (const auto* side : {&q.left, &q.right})
      for (const cell& c : *side)
        for (const selection& run : runs_behind(f, c)) runs.insert(key_of(f, run));
  };
  for (const experiment_file& f : files_) {
    if (extras_.natively)
      for (const auto& [name, of_scenario] : native_runs_behind(f, ids))
        natively += native_steps(native_named(f, name), of_scenario);
    if (extras_.draws)
      for (const figure* one : figures_of(f, ids))
        for (const figure_point& p : one->points) note(f, p.of);
    for (const claim& c : f.claims) {
      if (!asked_for(c, ids)) continue;
      for (const planned_case& one : c.cases) note(f, one.of);
      for (const planned_value& v : c.values) note(f, v.of);
    }
  }
  return runs.size() + natively;
}

reproduced reproduction::run(const std::vector<std::string>& ids, progress& p) {
  reproduced results;
  try {
    for (const experiment_file& f : files_) {
      const auto figures = extras_.draws ? figures_of(f, ids) : std::vector<const figure*>{};
      runs_of_file runs(f, figures, p);  // no claim and no figure looks at runs of another file
      for (const claim& c : f.claims) {
        if (!asked_for(c, ids)) continue;
        claim_result r = judge(c, [&](const cell& one) { return runs.values(one); });
        r.experiment = f.name;
        r.command = "kilter lab reproduce " + c.id;
        results.claims.push_back(std::move(r));
      }
      if (extras_.natively) judge_natively(f, ids, results.claims, p);
      for (const figure* one : figures) results.figures.push_back(runs.drawn(*one));
    }
  } catch (const stopped&) {
  } catch (const cancelled_error&) {  // within a run
  }
  return results;
}

}  // namespace kilter::lab
