#pragma once
// Whether a thread wants to run and does not, because others have its CPU.

#include <sys/types.h>

namespace kilter::regions {

/// Takes some ten microseconds, since it looks twice whether the thread gets on. False if that cannot be known.
[[nodiscard]] bool held_up(pid_t thread) noexcept;

}  // namespace kilter::regions
