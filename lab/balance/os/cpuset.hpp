#pragma once
// What the kernel may do to masks without being asked: a cpuset that shrinks takes CPUs away, and
// one that grows gives them back, or gives back what was asked for last. So a mask that changed
// tells of its thread only together with the cpuset that the thread is in.

#include <sys/types.h>

#include <optional>

#include "host/cpu_mask.hpp"

namespace kilter::balance::os {

/// The CPUs that the control group of a thread allows now. nullopt if the thread is gone or the
/// groups cannot be read.
[[nodiscard]] std::optional<host::cpu_mask> cpuset_of(pid_t tid);

/// Whether the kernel gave a thread the mask `now` because its cpuset `allowed` has taken the one
/// CPU away that it had been given. What was asked for is hidden then, and comes back with the CPU.
/// -1: it had been given none.
[[nodiscard]] inline bool was_displaced(int given, const host::cpu_mask& now,
                                        const host::cpu_mask& allowed) noexcept {
  return given >= 0 && now == allowed && !allowed.has(given);
}

/// Whether the mask of a thread is all that its cpuset allows, so that it will follow a cpuset that
/// grows.
[[nodiscard]] bool follows_cpuset(pid_t tid, const host::cpu_mask& now);

}  // namespace kilter::balance::os
