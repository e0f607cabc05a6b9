#pragma once
// Pinned loops of a kernel: what each core can do, with no runtime in between.

#include "apps/kernels.hpp"
#include "kilter/machine.hpp"
#include "lab/measuring/results.hpp"

namespace kilter::lab {

/// Runs the kernel on each core of `m` in turn and then on all at once, `seconds` each (at least three tasks). Threads are pinned.
/// Returns early, with what it has, when the process is interrupted.
[[nodiscard]] rate_sample measure_rates(apps::kernel_instance&, const machine& m, double seconds);

/// Tasks a second on each of the cores while all of them loop for so many seconds.
[[nodiscard]] std::vector<double> measure_together(const std::vector<core>&, apps::kernel_instance&, double seconds);

/// Mean over the samples: what `bound_s` needs.
[[nodiscard]] speed speed_from(const std::vector<rate_sample>&);

}  // namespace kilter::lab
