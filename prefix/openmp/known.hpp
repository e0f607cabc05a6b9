#pragma once
// What earlier runs of the program told of its regions: lines "OFFSET PATH" in the file that
// KILTER_KNOWN_REGIONS names (region_history.hpp).

#include "openmp/region.hpp"

namespace kilter::regions {

/// The region at that place need not be watched.
[[nodiscard]] bool is_known(const module_at&) noexcept;

}  // namespace kilter::regions
