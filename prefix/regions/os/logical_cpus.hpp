#pragma once
// Which logical CPUs belong to one core, and on which we are.

#include "regions/environment.hpp"

namespace kilter::regions::os {

/// Fills in `core` of each CPU where a quota pays for some of them: else nobody asks, and on a
/// large computer it is many files.
void find_cores(surroundings&);

/// The first logical CPU of the core that this one belongs to; -1: not known.
[[nodiscard]] int core_of(int cpu);

/// -1: not known.
[[nodiscard]] int cpu_here() noexcept;

}  // namespace kilter::regions::os
