#include "machine/layout.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace kilter::inline v0::detail {

std::vector<core> number_cores(std::vector<logical_cpu> cpus) {
  std::map<std::pair<kind_id, std::size_t>, int> lowest;
  for (const logical_cpu& cpu : cpus) {
    const auto [at, fresh] = lowest.try_emplace({cpu.kind, cpu.domain}, cpu.os_index);
    if (!fresh) at->second = std::min(at->second, cpu.os_index);
  }
  const auto rank = [&](const logical_cpu& cpu) {
    return std::tuple(cpu.kind, lowest.at({cpu.kind, cpu.domain}), cpu.domain, cpu.core_os_index,
                      cpu.os_index);
  };
  std::sort(cpus.begin(), cpus.end(),
            [&](const logical_cpu& a, const logical_cpu& b) { return rank(a) < rank(b); });

  std::vector<core> cores;
  cluster_id cluster = 0;
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    if (i > 0 && (cpus[i].kind != cpus[i - 1].kind || cpus[i].domain != cpus[i - 1].domain))
      ++cluster;
    cores.push_back(
        {static_cast<core_id>(i), cpus[i].os_index, cluster, cpus[i].kind, cpus[i].numa_node});
  }
  return cores;
}

void rescale_speeds(std::vector<core_kind>& kinds) {
  if (kinds.empty()) return;
  const double slowest = std::min_element(kinds.begin(), kinds.end(), [](auto& a, auto& b) {
                           return a.relative_speed < b.relative_speed;
                         })->relative_speed;
  for (core_kind& k : kinds) k.relative_speed = slowest > 0 ? k.relative_speed / slowest : 0.0;
}

}  // namespace kilter::inline v0::detail
