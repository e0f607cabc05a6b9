#pragma once
// Where threads run, as the operating system sees it.

#include <sys/types.h>

#include <span>

#include "kilter/machine.hpp"

namespace kilter::inline v0::detail {

/// True if every core of `m` is a CPU that this process may run on, each once: then workers can be
/// pinned.
[[nodiscard]] bool can_pin_to(const machine& m);
/// Pins the calling thread to the core; false if the operating system refuses.
bool pin_to(const machine& m, core_id c) noexcept;
/// The calling thread's number in the system, by which others ask. One that is gone, or 0, may be
/// asked about, too.
[[nodiscard]] pid_t thread_number() noexcept;
/// Pins a thread of this process. One that waits for its core goes over to the other core's queue
/// at once.
bool pin_to(const machine& m, core_id c, pid_t thread) noexcept;
/// Leaves it to the operating system on which of those cores the thread runs.
bool pin_to_any(const machine& m, std::span<const core_id>, pid_t thread) noexcept;
/// CPU time of a thread of this process, up to now if it is running; negative if it cannot be told.
[[nodiscard]] std::int64_t cpu_nanoseconds_of(pid_t thread) noexcept;
/// That thread of this process runs or waits for a CPU, and for nothing else. False where the
/// system does not tell.
[[nodiscard]] bool wants_cpu(pid_t thread) noexcept;
/// The core on which a fresh unpinned thread starts: a better first guess of a free core than any
/// short measurement (docs/inside/decisions/pinned-or-not.md). no_core if it lands outside `m`.
[[nodiscard]] core_id landing_core(const machine& m);
/// Logical CPUs that this process may use.
[[nodiscard]] std::uint32_t allowed_cpus() noexcept;

}  // namespace kilter::inline v0::detail
