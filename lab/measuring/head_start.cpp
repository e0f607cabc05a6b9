#include "measuring/head_start.hpp"

#include <algorithm>

#include "measuring/simulation.hpp"
#include "sim/quota.hpp"

namespace kilter::lab {

head_start head_start_of(const std::vector<disturbance>& parts, const sim::platform& p, bool fluid,
                         const full_speed& full) {
  const machine& m = *p.cores;
  head_start gained;
  for (const sim::disturbance& d : to_simulated(parts, p, fluid, 1.0, 1)) {
    const kind_id kind = m.cores()[d.cores.front()].kind;
    using enum sim::disturbance::kind;
    // On the path a core that a co-runner has in slices counts as free at any time: others may be
    // free when it is not.
    if (d.what == sliced) gained.tasks += full.core_per_s[d.cores.front()] * d.slice_s;
    if (d.what == clock) {
      const double holds_s = p.clocks[kind].transition_s;
      for (const core& c : m.cores())
        if (c.kind == kind) gained.tasks += full.core_per_s[c.id] * holds_s;
      gained.path_tasks += full.path_per_s * holds_s;
    }
    if (d.what == quota) {
      const double paid_s = d.left * m.core_count() * sim::quota_period_s;
      gained.tasks += *std::ranges::max_element(full.core_per_s) * paid_s;
      gained.path_tasks += full.path_per_cpu_s * paid_s;
    }
    // Who goes ends the task that it runs, and the one that it is about to.
    if (d.what == offline && d.from_s != 0.0) {
      gained.tasks += 2.0 * full.largest * static_cast<double>(d.cores.size());
      gained.path_tasks += 2.0 * full.path_largest;
    }
  }
  return gained;
}

}  // namespace kilter::lab
