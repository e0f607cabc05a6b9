// A platform of fewer cores.

#include <algorithm>

#include "sim/energy.hpp"
#include "sim/platform.hpp"

namespace kilter::sim {

namespace {

/// Seconds at a width between those that are known: the efficiency, time at width 1 over width x
/// time, changes evenly with the width.
double between(const std::vector<std::uint32_t>& known, const std::vector<double>& seconds,
               std::uint32_t width) {
  const auto efficiency = [&](std::size_t i) {
    return seconds[0] * known[0] / (known[i] * seconds[i]);
  };
  std::size_t upper = 0;
  while (upper < known.size() && known[upper] < width) ++upper;
  if (upper == known.size()) return seconds[0] * known[0] / (width * efficiency(upper - 1));
  if (known[upper] == width) return seconds[upper];
  const double part =
      static_cast<double>(width - known[upper - 1]) / (known[upper] - known[upper - 1]);
  return seconds[0] * known[0] /
         (width * (efficiency(upper - 1) + part * (efficiency(upper) - efficiency(upper - 1))));
}

}  // namespace

platform platform::restricted_to(std::span<const core_id> keep) const {
  platform p = *this;
  p.cores = std::make_shared<const machine>(cores->restricted_to(keep));
  const machine& m = *p.cores;
  std::vector<kind_id> before;  // by new kind
  for (const core_kind& k : m.kinds())
    before.push_back(static_cast<kind_id>(
        std::ranges::find(cores->kinds(), k.name, &core_kind::name) - cores->kinds().begin()));
  const auto of_kinds = [&](auto& all) {
    auto kept = all;
    kept.clear();
    for (const kind_id k : before) kept.push_back(all[k]);
    all = std::move(kept);
  };
  of_kinds(p.clocks);
  of_kinds(p.core_bytes_per_s);
  of_kinds(p.cluster_bytes_per_s);
  // A cluster keeps its whole caches, whoever is left of it.
  p.cache_bytes.clear();
  p.core_cache_bytes.clear();
  for (const cluster& c : m.clusters()) {
    const int first_cpu = m.cores()[c.first].os_index;
    const auto was = std::ranges::find(cores->cores(), first_cpu, &core::os_index);
    p.cache_bytes.push_back(cache_bytes[was->cluster]);
    p.core_cache_bytes.push_back(core_cache_bytes[was->cluster]);
  }
  p.kernels.clear();
  p.power.clear();
  p.contention.gather.clear();
  p.contention.busy.clear();
  for (kind_id k = 0; k < before.size(); ++k) {
    const auto known = widths(before[k]), wanted = p.widths(k);
    for (kernel_cost cost : kernels) {
      if (cost.kind != before[k]) continue;
      std::vector<double> seconds;
      for (const std::uint32_t w : wanted) seconds.push_back(between(known, cost.seconds, w));
      cost.kind = k;
      cost.seconds = std::move(seconds);
      p.kernels.push_back(std::move(cost));
    }
    for (power_figure figure : power) {
      if (figure.kind != before[k]) continue;
      std::vector<double> busy_w;
      for (const std::uint32_t w : wanted) busy_w.push_back(watts(figure, known, w));
      figure.kind = k;
      figure.busy_w = std::move(busy_w);
      p.power.push_back(std::move(figure));
    }
    if (const gather_figure* g = contention.gather_on(before[k]))
      p.contention.gather.push_back({k, g->own_s, g->others_s});
    if (const busy_figure* b = contention.busy_on(before[k]))
      p.contention.busy.push_back({k, b->slower});
  }
  return p;
}

}  // namespace kilter::sim
