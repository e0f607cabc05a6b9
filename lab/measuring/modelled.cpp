#include "measuring/modelled.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "measuring/given_tasks.hpp"
#include "measuring/rates.hpp"
#include "measuring/simulation.hpp"
#include "session/interrupt.hpp"

namespace kilter::lab {

modelled::modelled(experiment e, progress& p, body_runner* bodies) : measurement(std::move(e), p) {
  made_ = build(graph_, experiment_.work, *experiment_.simulated, bodies);
}

void modelled::compute_bounds() {
  const sim::platform& platform = *experiment_.simulated;
  const bool fluid = experiment_.co_runner == co_running::fluid, given = made_.types.back().given;
  std::optional<given_tasks> own;
  std::optional<mixed_tasks> mix;
  if (given)
    own.emplace(graph_, platform.cores->core_count());
  else
    mix.emplace(graph_, platform, made_.types,
                simulated_rates(platform, made_.types, {}, false, made_.widths));
  const auto rates_under = [&](const std::vector<disturbance>& steady) {
    return given ? own->rates(left_of_cores(platform, steady, fluid, 0.5),
                              left_of_cores(platform, steady, fluid, 1.0),
                              paid_cores(platform, steady))
                 : mix->rates(simulated_rates(platform, made_.types, steady, fluid, made_.widths));
  };
  const std::lock_guard lock(mutex_);
  tasks_ = given ? own->tasks() : mix->tasks();
  path_tasks_ = given ? own->path_tasks() : mix->path_tasks();
  measured_.sequential_s =
      given ? own->sequential_s() : sequential_s(graph_, platform, made_.types);
  const rate_sample whole =
      given ? own->rates_of_cores()
            : mix->rates_of_cores(simulated_rates(platform, made_.types, {}, false, made_.widths));
  const double path_per_s = *std::ranges::max_element(whole.alone_per_s);
  const full_speed full{whole.together_per_s, path_per_s,
                        given ? path_per_s : whole.chain_paid_per_s / platform.cores->core_count(),
                        given ? own->largest() : mix->largest(),
                        given ? own->path_largest() : mix->path_largest()};
  for (const scenario& s : experiment_.scenarios) {
    if (!s.parts.empty()) gained_[s.name] = head_start_of(s.parts, platform, fluid, full);
    // "none" comes first; how long a disturbed run is is not known, so up to this much longer.
    const double least_s =
        s.parts.empty() ? 1.0 : bound_of(experiment_.scenarios.front(), measured_.rates);
    double longest_s = 4.0 * least_s;
    for (const disturbance& d : s.parts) longest_s = std::max(longest_s, 2.0 * d.half_period_s);
    std::set<active_set> sets;
    for (const double run_s : {least_s, 2.0 * least_s, 4.0 * least_s, longest_s})
      for (const active_set set : sets_within(s.parts, run_s)) sets.insert(set);
    for (const active_set set : sets) {
      if (set == 0 && !s.parts.empty()) continue;  // the undisturbed rates serve
      measured_.rates.push_back({s.name, set, {rates_under(steady_parts(s.parts, set))}});
    }
  }
  measured_.path_s =
      static_cast<double>(path_tasks_) / speed_from(measured_.rates.front().samples).freest_per_s;
}

void modelled::run() {
  progress_.step("bounds");
  compute_bounds();
  for (const bool traced : {false, true}) {
    if (traced && !experiment_.details) continue;
    for (std::uint32_t repeat = 0; repeat < (traced ? 1 : experiment_.repeats); ++repeat)
      for (const scenario& s : experiment_.scenarios)
        for (const std::string& policy : experiment_.policies) {
          if (interrupted()) return;
          progress_.step(fmt::format("{}{}, {}, repeat {}", traced ? "tracing " : "", policy,
                                     s.name, repeat + 1));
          run_one(s, policy, repeat, traced);
        }
  }
  const std::lock_guard lock(mutex_);
  measured_.complete = !interrupted();
}

}  // namespace kilter::lab
