#pragma once
// Where threads run, as the operating system sees it.

#include "kilter/machine.hpp"

namespace kilter::detail {

/// True if every core of `m` is a CPU that this process may run on, each once: then workers can be pinned.
[[nodiscard]] bool can_pin_to(const machine& m);
/// Pins the calling thread to the core; false if the operating system refuses.
bool pin_to(const machine& m, core_id c) noexcept;
/// The core on which a fresh unpinned thread starts: a better first guess of a free core than any short measurement
/// (docs/decisions/pinned-or-not.md). no_core if it lands outside `m`.
[[nodiscard]] core_id landing_core(const machine& m);
/// Logical CPUs that this process may use.
[[nodiscard]] std::uint32_t allowed_cpus() noexcept;

}  // namespace kilter::detail
