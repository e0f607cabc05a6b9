#pragma once
// Which cores count as fast.

#include <cstdint>
#include <span>
#include <vector>

#include "kilter/machine.hpp"

namespace kilter::balance {

/// 1 for each core of `given`, or of the fastest kind if none is given; 0 for the others.
[[nodiscard]] std::vector<std::uint8_t> fast_flags(const machine&, std::span<const core_id> given);

}  // namespace kilter::balance
