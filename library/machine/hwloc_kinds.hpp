#pragma once
// Kinds of cores as hwloc tells them, in Kilter's order.

#include <vector>

#include <hwloc.h>

#include "kilter/machine.hpp"

namespace kilter::inline v0::detail {

/// Which kind each logical CPU is of, fastest kind first: by hwloc's own ranking, else by capacity,
/// core type or frequency, whichever all kinds state; then by lowest OS index. hwloc's kinds that
/// differ by a few percent only are one (machine/alike.hpp). CPUs that hwloc puts into no kind make
/// up a last one, unless there is only one other.
class kind_table {
 public:
  /// `cpus` are the OS indices that will become cores: kinds without any are left out.
  kind_table(hwloc_topology_t topology, const std::vector<int>& cpus);

  [[nodiscard]] kind_id of(int os_index) const;
  [[nodiscard]] const std::vector<core_kind>& kinds() const noexcept { return kinds_; }

 private:
  std::vector<core_kind> kinds_;
  std::vector<std::vector<int>> members_;
};

}  // namespace kilter::inline v0::detail
