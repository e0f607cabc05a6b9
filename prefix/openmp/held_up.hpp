#pragma once
// Whether a thread wants to run and does not, because others have its CPU.

#include <sys/types.h>

#include "openmp/team.hpp"

namespace kilter::regions {

/// Takes some ten microseconds, since it looks twice whether the thread gets on. False if that
/// cannot be known, and at once when what the caller waits for has come.
[[nodiscard]] bool held_up(pid_t thread, const awaited&) noexcept;

}  // namespace kilter::regions
