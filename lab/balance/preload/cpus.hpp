#pragma once
// The CPUs that a process may use, as a machine of fast and slow cores.

#include <string>
#include <vector>

#include "kilter/machine.hpp"

namespace kilter::balance::preload {

/// Those of `allowed` that the kernel calls fastest: Intel's core kind, else the capacity, else a
/// maximum frequency of at least 1.3 times the lowest. Empty if it tells no difference. `root` is
/// "/sys".
[[nodiscard]] std::vector<int> fastest_cpus(const std::vector<int>& allowed,
                                            const std::string& root);

/// Fast cores first, then by number. `allowed` ascends and is not empty; without fast or without
/// slow cores all are alike.
[[nodiscard]] machine machine_of(const std::vector<int>& allowed, const std::vector<int>& fast);

}  // namespace kilter::balance::preload
