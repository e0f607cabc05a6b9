#pragma once
// Topology files of hwloc, looked at before hwloc reads them.

#include <string>

namespace kilter::inline v0::detail {

/// The topology again with what shapes a machine and nothing else: objects, their infos, kinds of
/// CPUs. hwloc reads nested elements by recursion, trusts the numbers that it finds, and stops the
/// program over some sets; so what no machine has is refused here. Input errors begin with
/// `source`.
///
/// Formats 1, 2 and 3.0: objects and kinds are written alike in 2 and 3.0, so 3.0 comes out as 2.0,
/// which every hwloc reads.
[[nodiscard]] std::string machine_part(const std::string& xml, const std::string& source);

}  // namespace kilter::inline v0::detail
