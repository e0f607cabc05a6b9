#include "measuring/program_run.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <mutex>

#include "base/random.hpp"
#include "kilter/error.hpp"
#include "measuring/energy_meter.hpp"
#include "measuring/presence.hpp"
#include "session/interrupt.hpp"
#include "statistics/stats.hpp"
#include "words/suggest.hpp"

namespace kilter::lab {

namespace {

using apps::execution_model;

struct contender {
  execution_model model;
  std::string policy;  // of `kilter`
  std::string name;
};

std::vector<contender> contenders_of(const program_plan& p) {
  std::vector<contender> all;
  for (const execution_model m : p.models) {
    const std::string name(apps::model_names[static_cast<std::size_t>(m)]);
    if (m != execution_model::kilter)
      all.push_back({m, "", name});
    else
      for (const std::string& policy : p.policies) all.push_back({m, policy, name + " " + policy});
  }
  return all;
}

std::string for_people(const scenario& s) { return s.parts.empty() ? "undisturbed" : s.name; }

/// Whom the others are held against is the first.
std::vector<program_summary> summarised(const program_plan& p,
                                        const std::vector<program_row>& runs) {
  std::vector<program_summary> all;
  for (const scenario& s : p.scenarios) {
    const auto seconds = [&](const std::string& model) {
      std::vector<std::pair<std::uint32_t, double>> by_repeat;
      for (const program_row& r : runs)
        if (r.model == model && r.disturb == s.name && r.run.complete)
          by_repeat.emplace_back(r.repeat, r.run.seconds);
      return by_repeat;
    };
    const std::vector<contender> contenders = contenders_of(p);
    const auto first = seconds(contenders.front().name);
    for (const contender& c : contenders) {
      const auto own = seconds(c.name);
      if (own.empty()) continue;
      std::vector<double> values, speeds, joules, edps;
      for (const program_row& r : runs)
        if (r.model == c.name && r.disturb == s.name && r.run.complete && r.joules) {
          joules.push_back(*r.joules);
          edps.push_back(*r.joules * r.run.seconds);
        }
      for (const auto& [repeat, value] : own) {
        values.push_back(value);
        const auto other =
            std::ranges::find(first, repeat, [](const auto& one) { return one.first; });
        if (other != first.end() && value > 0.0) speeds.push_back(other->second / value);
      }
      const spread taken = spread_of(values);
      const auto row = std::ranges::find_if(runs, [&](const program_row& r) {
        return r.model == c.name && r.disturb == s.name && r.run.complete;
      });
      all.push_back({c.name, s.name, static_cast<std::uint32_t>(values.size()), taken.median,
                     taken.smallest, taken.largest, row->run.iterations, row->run.tasks,
                     joules.empty() ? std::nullopt : std::optional(median(joules)),
                     edps.empty() ? std::nullopt : std::optional(median(edps)),
                     speeds.empty() ? std::nullopt : std::optional(median(speeds))});
    }
  }
  return all;
}

}  // namespace

std::vector<execution_model> read_models(const std::vector<std::string>& lists) {
  std::vector<execution_model> models;
  const auto add = [&](std::string_view word) {
    const auto at = std::ranges::find(apps::model_names, word);
    if (at == apps::model_names.end())
      throw input_error(unknown_name("model", word, apps::model_names));
    const auto m = static_cast<execution_model>(at - apps::model_names.begin());
    if (std::ranges::find(models, m) == models.end()) models.push_back(m);
  };
  for (const std::string& list : lists)
    for (std::size_t at = 0; at <= list.size();) {
      const std::size_t end = std::min(list.find(',', at), list.size());
      const std::string_view word = std::string_view(list).substr(at, end - at);
      if (word == "all")
        std::ranges::for_each(apps::model_names, [&](std::string_view each) {
          if (each != apps::model_names[static_cast<std::size_t>(execution_model::tbb_loop)] ||
              apps::has_tbb())
            add(each);
        });
      else
        add(word);
      at = end + 1;
    }
  return models;
}

std::uint64_t steps_of(const program_plan& p) {
  return std::uint64_t{p.repeats} * contenders_of(p).size() * p.scenarios.size();
}

struct program_measurement::state {
  program_plan plan;
  apps::program& what;
  progress& shown;
  std::vector<std::unique_ptr<presence>> presences{};  // by scenario
  energy_meter energy{};
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  mutable std::mutex mutex{};
  program_result measured{};  // under the lock

  void run_one(const contender& c, std::size_t scenario_at, std::uint32_t repeat) {
    runtime_options o = plan.options;
    o.seed = random_stream(plan.seed, "run", repeat).next();
    if (!c.policy.empty()) o.custom = policy_of(c.policy, plan);
    program_row row{.model = c.name,
                    .disturb = plan.scenarios[scenario_at].name,
                    .repeat = repeat,
                    .run = {},
                    .fingerprint = 0,
                    .joules = {},
                    .achieved_share = {},
                    .disturber_progress = {}};
    presence& around = *presences[scenario_at];
    {
      apps::executor how(c.model, std::move(o));
      around.begin(expected_s(row));
      around.mark();
      try {
        row.run = what.run(how, interrupted);
      } catch (...) {
        around.end();
        throw;
      }
      const auto end =
          row.run.begin + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                              std::chrono::duration<double>(row.run.seconds));
      row.joules = energy.joules(row.run.begin, std::min(end, std::chrono::steady_clock::now()));
      const presence::effect effect = around.since_mark();
      around.end();
      row.achieved_share = effect.share;
      row.disturber_progress = effect.progress;
    }
    if (!row.run.complete) return;
    try {
      what.verify();
    } catch (const apps::wrong_result& e) {
      throw apps::wrong_result(fmt::format("{}, {}, gives a wrong result: {}", c.name,
                                           for_people(plan.scenarios[scenario_at]), e.what()));
    }
    row.fingerprint = what.fingerprint();
    const std::lock_guard lock(mutex);
    measured.runs.push_back(std::move(row));
  }

  /// For windows in parts of a run: as long as the last run of this model took, or any; a second
  /// before there is one.
  double expected_s(const program_row& row) const {
    const std::lock_guard lock(mutex);
    double any_s = 1.0;
    for (const program_row& r : measured.runs) {
      any_s = r.run.seconds;
      if (r.model == row.model) return r.run.seconds;
    }
    return any_s;
  }
};

program_measurement::program_measurement(program_plan p, apps::program& what, progress& shown)
    : state_(new state{.plan = std::move(p), .what = what, .shown = shown}) {}
program_measurement::~program_measurement() = default;

void program_measurement::run() {
  state& s = *state_;
  for (const scenario& one : s.plan.scenarios) {
    s.presences.push_back(std::make_unique<presence>(*s.plan.machine, one.parts));
    const auto notes = s.presences.back()->notes();
    const std::lock_guard lock(s.mutex);
    s.measured.notes.insert(s.measured.notes.end(), notes.begin(), notes.end());
  }
  const std::vector<contender> contenders = contenders_of(s.plan);
  for (std::uint32_t repeat = 0; repeat < s.plan.repeats; ++repeat)
    for (std::size_t at = 0; at < s.plan.scenarios.size(); ++at)
      for (const contender& c : contenders) {
        if (interrupted()) return;
        s.shown.step(
            fmt::format("{}, {}, repeat {}", c.name, for_people(s.plan.scenarios[at]), repeat + 1));
        s.run_one(c, at, repeat);
      }
  if (interrupted()) return;
  const std::lock_guard lock(s.mutex);
  s.measured.complete = true;
}

program_result program_measurement::result() const {
  const std::lock_guard lock(state_->mutex);
  program_result known = state_->measured;
  rusage used{};
  if (::getrusage(RUSAGE_SELF, &used) == 0)
    known.most_bytes = static_cast<std::uint64_t>(used.ru_maxrss) * 1024;
  known.energy_source = state_->energy.source();
  known.summary = summarised(state_->plan, known.runs);
  known.tool_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - state_->begin).count();
  return known;
}

}  // namespace kilter::lab
