#pragma once
// Work that takes a processor's time and nothing else: no memory, no cache. Its amount is counted,
// not timed, so a co-runner makes it last longer and does not make it less.

#include <cstdint>
#include <memory>

#include "apps/kernels.hpp"
#include "kilter/machine.hpp"

namespace kilter::lab {

/// The smallest amount that is handed out: a few microseconds.
void burn_pieces(std::uint64_t pieces) noexcept;

/// Seconds of CPU time that one piece takes on a core, nothing else running there; the least of
/// several measurements.
[[nodiscard]] double seconds_of_piece(const core&);

/// Pieces of one run of the kernel below.
inline constexpr std::uint32_t pieces_of_burn = 32;

/// Burning as a kernel, for the loops that measure what cores can do.
[[nodiscard]] std::unique_ptr<apps::kernel_instance> make_burn_kernel(std::uint32_t concurrency);

}  // namespace kilter::lab
