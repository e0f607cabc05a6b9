#include "sim/residency.hpp"

#include <algorithm>

#include "machine/distance.hpp"

namespace kilter::sim {

namespace {

constexpr double line_bytes = 64.0;

/// What is left in a cache of what it had before so much else came. Size 0: not known, so
/// everything fits.
double left_in(std::uint64_t cache, double since, double bytes) noexcept {
  return cache == 0 ? bytes : std::clamp(static_cast<double>(cache) - since, 0.0, bytes);
}

}  // namespace

residency::residency(const platform& p, std::span<const task_data> data)
    : platform_(p),
      data_(data),
      of_core_(p.cores->core_count(), 0.0),
      of_cluster_(p.cores->clusters().size(), 0.0) {
  std::size_t count = 0;
  for (const task_data& d : data)
    if (d.written != task_data::none) count = std::max(count, d.written + std::size_t{1});
  last_.resize(count);
}

double residency::bytes_of(std::uint64_t task, const task_cost& cost) const noexcept {
  return data_[task].bytes > 0.0 ? data_[task].bytes : cost.working_set;
}

double residency::moved_s(std::uint64_t task, const task_cost& cost, core_id data_at,
                          core_id to) const noexcept {
  const kilter::distance far = distance_between(*platform_.cores, data_at, to);
  const bool named = data_[task].read != task_data::none;
  if (!named || far == kilter::distance::unknown || far == kilter::distance::none) return 0.0;
  const datum& last = last_[data_[task].read];
  const cluster_id there = platform_.cores->cores()[data_at].cluster;
  const double bytes = bytes_of(task, cost);
  // Who shares a cache finds there what the other's own one has lost, as that core itself would.
  if (far == kilter::distance::cluster)
    return left_in(platform_.core_cache_bytes[there], of_core_[data_at] - last.of_core, bytes) /
           line_bytes * platform_.moved_line.in_cluster_s;
  return left_in(platform_.cache_bytes[there], of_cluster_[there] - last.of_cluster, bytes) /
         line_bytes * platform_.moved_line.between_clusters_s;
}

void residency::ran(std::uint64_t task, const task_cost& cost, core_id at) noexcept {
  const cluster_id here = platform_.cores->cores()[at].cluster;
  const double bytes = std::max(bytes_of(task, cost), cost.working_set);
  of_core_[at] += bytes;
  of_cluster_[here] += bytes;
  if (const std::uint32_t written = data_[task].written; written != task_data::none)
    last_[written] = {of_core_[at], of_cluster_[here]};
}

}  // namespace kilter::sim
