#include "sim/ideal_platform.hpp"

namespace kilter::sim {

platform ideal_platform(std::span<const std::string> processors) {
  std::vector<core_kind> kinds;
  std::vector<core> cores;
  for (const std::string& name : processors) {
    const auto i = static_cast<std::uint32_t>(cores.size());
    kinds.push_back({.id = i, .name = name});
    cores.push_back({.id = i, .os_index = static_cast<int>(i), .cluster = i, .kind = i});
  }
  platform p;
  p.name = "ideal";
  p.description = std::to_string(processors.size()) + " processors that share nothing";
  p.cores = std::make_shared<const machine>("ideal", std::move(kinds), std::move(cores));
  const std::size_t count = processors.size();
  p.clocks.resize(count);
  p.core_bytes_per_s.assign(count, 0.0);
  p.cluster_bytes_per_s.assign(count, 0.0);
  p.cache_bytes.assign(count, 0);
  p.core_cache_bytes = p.cache_bytes;
  // A pause of some length between two tries to steal there must be, or the tries of one moment
  // would have no end.
  p.costs = {.push_s = 0.0,
             .steal_try_s = 1e-9,
             .steal_s = 0.0,
             .search_all_s = 0.0,
             .search_own_s = 0.0,
             .assembly_s = 0.0,
             .wake_s = 0.0,
             .from = {"by definition: nothing takes time but tasks and messages"}};
  p.origins = {{"overheads", p.costs.from}};
  return p;
}

}  // namespace kilter::sim
