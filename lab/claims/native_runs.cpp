#include "claims/native_runs.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/random.hpp"
#include "claims/native_program.hpp"
#include "claims/task_measures.hpp"
#include "kilter/error.hpp"
#include "measuring/experiment.hpp"
#include "measuring/presence.hpp"
#include "runtime/attachments.hpp"
#include "session/interrupt.hpp"

namespace kilter::lab {

namespace {

using steady = std::chrono::steady_clock;

struct stopped_run {};

std::vector<presence_window> windows_of(const std::vector<disturbance>& parts, double expected_s) {
  std::vector<presence_window> windows;
  for (const disturbance& d : parts) {
    const double unit = d.window && d.window->fractions ? expected_s : 1.0;
    windows.push_back({d.window ? d.window->from * unit : 0.0,
                       d.window ? d.window->to * unit : -1.0, d.half_period_s});
  }
  return windows;
}

template <class Run>
apps::program_run beside(presence& around, double expected_s, const Run& run) {
  const std::unique_ptr<presence, void (*)(presence*)> ends(&around, [](presence* p) { p->end(); });
  around.begin(expected_s);
  return run();
}

std::string words_of(const selection& run) {
  std::string text;
  for (const auto& [name, value] : run) text += " " + name + "=" + value;
  return text;
}

class scenario_runs {
 public:
  scenario_runs(const experiment_scenario& s, const std::set<selection>& runs, progress& shown)
      : scenario_(s), runs_(runs.begin(), runs.end()), shown_(shown) {}

  native_results all() {
    native_results results;
    for (std::uint32_t repeat = 1; repeat <= scenario_.seeds; ++repeat) {
      made_.clear();
      try {
        for (std::size_t i = 0; i < runs_.size(); ++i) {
          const selection& run = runs_[(i + repeat) % runs_.size()];  // nobody is always first
          shown_.step(fmt::format("native{}, repeat {}", words_of(run), repeat));
          (void)made(run, repeat);
        }
      } catch (const stopped_run&) {
        break;
      }
      for (const selection& run : runs_) results[run].push_back(std::move(made_.at(run)));
    }
    return results;
  }

 private:
  /// What belongs to one choice of cores and one disturbance.
  struct place_of_work {
    std::unique_ptr<apps::program> what;
    std::unique_ptr<presence> around;
  };

  const observed& made(const selection& run, std::uint32_t repeat) {
    if (const auto at = made_.find(run); at != made_.end()) return at->second;
    if (interrupted()) throw stopped_run{};
    const experiment e = plan(specification_of(scenario_, run, repeat));
    if (e.machine->core_count() < 2 && !run.contains("workers"))
      throw input_error(
          fmt::format("--native: scenario '{}' needs 2 cores, and there is 1", scenario_.name));
    const scenario& disturbed = e.scenarios.back();
    double expected_s = 0.0;
    if (in_parts_of_a_run(disturbed.parts)) {
      selection undisturbed = run;
      undisturbed["disturb"] = "none";
      expected_s = made(undisturbed, repeat).makespan_s();
    }
    return made_.emplace(run, observe(e, disturbed, expected_s)).first->second;
  }

  place_of_work& at(const experiment& e, const scenario& disturbed) {
    place_of_work& here = there_[e.cores + " " + disturbed.name];
    if (!here.what)
      here = {make_program(scenario_, *e.machine),
              std::make_unique<presence>(*e.machine, disturbed.parts)};
    return here;
  }

  observed observe(const experiment& e, const scenario& disturbed, double expected_s) {
    place_of_work& here = at(e, disturbed);
    trace::recorder events(e.machine->core_count());
    runtime_options o = e.options;
    o.custom = policy_of(e.policies.front(), e);
    o.seed = random_stream(e.seed, "run", 0).next();
    apps::program_run ran;
    steady::time_point begun;
    {
      // Its workers record until they end; the events are read afterwards.
      apps::executor how(std::move(o), kilter::detail::attachments{.events = &events});
      begun = steady::now();
      ran = beside(*here.around, expected_s, [&] { return here.what->run(how, interrupted); });
    }
    if (!ran.complete) throw stopped_run{};
    try {
      here.what->verify();
    } catch (const apps::wrong_result& wrong) {
      throw apps::wrong_result(
          fmt::format("native scenario '{}': {} under {} gives a wrong result: {}", scenario_.name,
                      e.policies.front(), disturbed.name, wrong.what()));
    }
    return seen(e, presence_times(windows_of(disturbed.parts, expected_s)), events, ran,
                ran.begin - begun);
  }

  observed seen(const experiment& e, presence_times times, trace::recorder& recorder,
                const apps::program_run& ran, steady::duration before_run) const {
    if (recorder.dropped() > 0)
      throw std::runtime_error(
          fmt::format("native scenario '{}': {} events of a run found no room; give it fewer tasks",
                      scenario_.name, recorder.dropped()));
    const std::vector<std::string> types = recorder.type_names();
    const std::vector<trace::event> events = recorder.drain();
    // the first task begins when the run does
    std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
    for (const trace::event& event : events)
      if (event.kind == trace::event_kind::task) first_ns = std::min(first_ns, event.start_ns);
    std::optional<std::uint16_t> iterations;
    if (const auto at = std::ranges::find(types, program_of(scenario_).iteration_type);
        at != types.end())
      iterations = static_cast<std::uint16_t>(at - types.begin());
    observed o(e.machine, std::move(times));
    for (const task_record& t : records_of(events, *e.machine, iterations,
                                           first_ns - std::chrono::nanoseconds(before_run).count()))
      o.add(t);
    execution_stats stats;
    stats.seconds = ran.seconds;
    stats.tasks = ran.tasks;
    o.finish(stats, types);
    return o;
  }

  const experiment_scenario& scenario_;
  const std::vector<selection> runs_;
  progress& shown_;
  std::map<std::string, place_of_work> there_;
  std::map<selection, observed> made_;  // in this repeat
};

}  // namespace

std::uint64_t native_steps(const experiment_scenario& s, const std::set<selection>& runs) {
  return std::uint64_t{s.seeds} * runs.size();
}

native_results run_natively(const experiment_scenario& s, const std::set<selection>& runs,
                            progress& shown) {
  return scenario_runs(s, runs, shown).all();
}

std::string measured_here() {
  const auto here = local_machine("", false);
  return fmt::format("{:%Y-%m-%d}, {}, {} cores", fmt::gmtime(std::time(nullptr)), here->name(),
                     here->core_count());
}

std::vector<task_record> records_of(std::span<const trace::event> events, const machine& m,
                                    std::optional<std::uint16_t> iterations, std::int64_t zero_ns) {
  std::vector<std::int64_t> iterations_ns;
  std::map<std::pair<std::uint32_t, std::uint32_t>, trace::event> executions;  // by graph and task
  for (const trace::event& e : events) {
    if (e.kind != trace::event_kind::task) continue;
    if (e.type == iterations) {
      iterations_ns.push_back(e.start_ns);
      continue;
    }
    const auto [at, first] = executions.try_emplace({e.graph, e.task}, e);
    if (first) continue;
    at->second.start_ns = std::min(at->second.start_ns, e.start_ns);
    at->second.end_ns = std::max(at->second.end_ns, e.end_ns);
  }
  std::ranges::sort(iterations_ns);
  std::vector<task_record> records;
  for (const auto& [id, e] : executions) {
    const auto begun = static_cast<std::uint32_t>(
        std::ranges::upper_bound(iterations_ns, e.start_ns) - iterations_ns.begin());
    records.push_back({.start_s = static_cast<double>(e.start_ns - zero_ns) * 1e-9,
                       .end_s = static_cast<double>(e.end_ns - zero_ns) * 1e-9,
                       .where = m.find({e.leader, e.width}).value(),
                       .critical = e.has(trace::event_flag::critical),
                       .beyond_cache = false,
                       .iteration = std::max<std::uint32_t>(begun, 1) - 1});
  }
  return records;
}

}  // namespace kilter::lab
