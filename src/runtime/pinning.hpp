#pragma once
// Where threads run, as the operating system sees it.

#include <pthread.h>
#include <sys/types.h>

#include "kilter/machine.hpp"

namespace kilter::detail {

/// True if every core of `m` is a CPU that this process may run on, each once: then workers can be pinned.
[[nodiscard]] bool can_pin_to(const machine& m);
/// Pins the calling thread to the core; false if the operating system refuses.
bool pin_to(const machine& m, core_id c) noexcept;
/// Pins another thread of this process, which must be alive. One that waits for its core goes over to the other core's queue at once.
bool pin_to(const machine& m, core_id c, pthread_t) noexcept;
/// CPU time of a thread of this process, up to now if it is running; negative if it cannot be told.
[[nodiscard]] std::int64_t cpu_nanoseconds_of(pthread_t) noexcept;
/// The calling thread's number in the system.
[[nodiscard]] pid_t thread_number() noexcept;
/// That thread of this process runs or waits for a CPU, and for nothing else. False where the system does not tell.
[[nodiscard]] bool wants_cpu(pid_t thread_number) noexcept;
/// The core on which a fresh unpinned thread starts: a better first guess of a free core than any short measurement
/// (docs/decisions/pinned-or-not.md). no_core if it lands outside `m`.
[[nodiscard]] core_id landing_core(const machine& m);
/// Logical CPUs that this process may use.
[[nodiscard]] std::uint32_t allowed_cpus() noexcept;

}  // namespace kilter::detail
