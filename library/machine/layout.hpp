#pragma once
// From what a source knows about logical CPUs to Kilter's numbering. Every source of machines goes
// through here, so that the numbering rule is written once.

#include <cstddef>
#include <string>
#include <vector>

#include "kilter/machine.hpp"

namespace kilter::inline v0::detail {

/// More cores than any machine known; a guard against a typing error that would fill the memory.
inline constexpr std::size_t most_cores = 65536;

/// A logical CPU that becomes a core.
struct logical_cpu {
  int os_index = 0;
  kind_id kind = 0;        ///< kinds are numbered fastest first already
  std::size_t domain = 0;  ///< CPUs of one kind and one domain form a cluster; any numbering
  int numa_node = 0;
  int core_os_index = os_index;  ///< of the first logical CPU of its physical core
};

/// Numbers cores and clusters: kind by kind, within a kind the cluster with the lowest OS index
/// first, within a cluster by OS index, but the logical CPUs of a physical core side by side.
[[nodiscard]] std::vector<core> number_cores(std::vector<logical_cpu> cpus);

/// Divides all relative speeds by the smallest. If one is unknown (0), all become unknown.
void rescale_speeds(std::vector<core_kind>& kinds);

}  // namespace kilter::inline v0::detail
