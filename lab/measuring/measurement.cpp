#include "measuring/measurement.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <utility>

#include "base/sync.hpp"
#include "measuring/emulation.hpp"
#include "measuring/native.hpp"
#include "measuring/rates.hpp"
#include "measuring/rows.hpp"
#include "measuring/simulation.hpp"

namespace kilter::lab {

std::uint64_t steps_of(const experiment& e) {
  const std::uint64_t combinations = e.policies.size() * e.scenarios.size();
  return 1 + 2 * e.scenarios.size() + combinations * (e.repeats + (e.details ? 1 : 0));
}

measurement::measurement(experiment e, progress& p)
    : experiment_(std::move(e)), progress_(p), start_ns_(sync::nanoseconds()) {}
measurement::~measurement() = default;

std::unique_ptr<measurement> measurement::make(experiment e, progress& p) {
  if (e.simulated && e.on.emulated) return std::make_unique<emulation>(std::move(e), p);
  if (e.simulated) return std::make_unique<simulation>(std::move(e), p);
  return std::make_unique<native>(std::move(e), p);
}

double measurement::bound_of(const scenario& s, const std::vector<rates_of_set>& rates) const {
  const auto speed_of = [&](active_set set) {
    const std::string_view owner = set == 0 ? "none" : std::string_view(s.name);
    constexpr double unknown = std::numeric_limits<double>::infinity();
    const auto known = std::ranges::find_if(
        rates, [&](const rates_of_set& r) { return r.disturb == owner && r.set == set; });
    if (known != rates.end()) return speed_from(known->samples);
    // A set that no run of the expected length meets takes nothing, as far as is known.
    return rates.empty() ? speed{unknown, unknown} : speed_from(rates.front().samples);
  };
  const auto tasks = static_cast<double>(tasks_), path_tasks = static_cast<double>(path_tasks_);
  const auto gained = gained_.find(s.name);
  if (gained == gained_.end()) return bound_s(s.parts, tasks, path_tasks, speed_of);
  // Whatever a run gains, it is no shorter than undisturbed.
  return std::max(bound_s({}, tasks, path_tasks, speed_of),
                  bound_s(s.parts, tasks, path_tasks, speed_of, gained->second));
}

void measurement::save_table(const std::function<void()>& save) {
  try {
    save();
  } catch (const std::exception& e) {
    const std::lock_guard lock(mutex_);
    measured_.table_lost = e.what();
  }
}

experiment_result measurement::result() const {
  experiment_result r;
  {
    const std::lock_guard lock(mutex_);
    r = measured_;
  }
  for (const scenario& s : experiment_.scenarios) {
    if (r.rates.empty()) continue;
    const double bound = bound_of(s, r.rates);
    for (run_row& row : r.runs)
      if (row.disturb == s.name) row.bound_s = bound;
  }
  r.rows = rows_of(experiment_, r);
  if (std::find(experiment_.policies.begin(), experiment_.policies.end(), "rws") ==
      experiment_.policies.end())
    r.notes.push_back(
        "rws is not among the policies, so there is nothing to divide by; add it to --policy for "
        "ratios.");
  if (const auto* data = std::get_if<dag_work>(&experiment_.work))
    for (const std::string& note : data->what->notes) r.notes.push_back(data->from + ": " + note);
  if (r.emulation) r.notes.push_back(emulation_note(*r.emulation));
  if (!r.complete) r.notes.push_back("Interrupted: this is what was measured until then.");
  if (experiment_.root == submitter::outside)
    r.notes.push_back("Roots came from outside the workers (--root outside).");
  r.tool_seconds = static_cast<double>(sync::nanoseconds() - start_ns_) * 1e-9;
  return r;
}

}  // namespace kilter::lab
