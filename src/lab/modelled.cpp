#include "lab/modelled.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lab/interrupt.hpp"
#include "lab/simulation.hpp"

namespace kilter::lab {

modelled::modelled(experiment e, progress& p, body_runner* bodies) : measurement(std::move(e), p) {
  made_ = build(graph_, experiment_.work, *experiment_.simulated, bodies);
}

void modelled::compute_bounds() {
  const sim::platform& platform = *experiment_.simulated;
  const mixed_tasks mix(graph_, platform, made_.types, simulated_rates(platform, made_.types, {}));
  const std::lock_guard lock(mutex_);
  tasks_ = mix.tasks();
  path_tasks_ = mix.path_tasks();
  for (const scenario& s : experiment_.scenarios) {
    // "none" comes first; how long a disturbed run is at most is not known, so this much longer than that.
    double longest_s = s.parts.empty() ? 1.0 : 4.0 * bound_of(experiment_.scenarios.front(), measured_.rates);
    for (const disturbance& d : s.parts) longest_s = std::max(longest_s, 2.0 * d.half_period_s);
    for (const active_set set : sets_within(s.parts, longest_s)) {
      if (set == 0 && !s.parts.empty()) continue;  // the undisturbed rates serve
      measured_.rates.push_back({s.name, set, {mix.rates(simulated_rates(platform, made_.types, steady_parts(s.parts, set), experiment_.co_runner == "fluid"))}});
    }
  }
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
          progress_.step(fmt::format("{}{}, {}, repeat {}", traced ? "tracing " : "", policy, s.name, repeat + 1));
          run_one(s, policy, repeat, traced);
        }
  }
  const std::lock_guard lock(mutex_);
  measured_.complete = !interrupted();
}

}  // namespace kilter::lab
