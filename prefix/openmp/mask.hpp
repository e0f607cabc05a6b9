#pragma once
// The mask that `kilter run` has narrowed to what the quota pays for (KILTER_MASK): it follows the
// quota, and goes where it holds the program up. docs/inside/decisions/run.md.

namespace kilter::regions {

/// By a process that has threads, or would have some with more CPUs: from now on its mask is
/// followed. Costs a load after the first time; errno stays.
void follow_mask() noexcept;

/// In the child of a fork, which has none of the threads.
void forget_mask() noexcept;

}  // namespace kilter::regions
