#pragma once
// Pinned loops of a kernel: what cores and places can do, with no runtime in between.

#include <cstdint>
#include <span>
#include <vector>

#include "apps/kernels.hpp"
#include "kilter/machine.hpp"
#include "measuring/results.hpp"

namespace kilter::lab {

/// Loops of the kernel, `seconds` each (at least three tasks), by pinned threads: on every core in
/// turn, then for each width that tasks may have on all places of it at once, and on the best of
/// those by itself. `widths`: those; empty: all. Returns early, with what it has, when the process
/// is interrupted.
[[nodiscard]] rate_sample measure_rates(apps::kernel_instance&, const machine& m, double seconds,
                                        std::span<const std::uint32_t> widths = {});

/// How many loops those are.
[[nodiscard]] std::size_t loops_of(const machine&, std::span<const std::uint32_t> widths = {});

/// Tasks a second of each team while all of them loop for so many seconds. A team's cores do one
/// task after the other, in parts that whoever is free takes.
[[nodiscard]] std::vector<double> measure_together(const std::vector<std::vector<core>>& teams,
                                                   apps::kernel_instance&, double seconds);

/// Mean over the samples: what `bound_s` needs.
[[nodiscard]] speed speed_from(const std::vector<rate_sample>&);

}  // namespace kilter::lab
