#pragma once
// What `kilter top` sees of a program that runs.

#include <cstdint>

namespace kilter::regions {

/// Shows anew what would be told now, if that is older than a second. For programs that tell;
/// `now_ns` as clock.hpp has it.
void refresh_live_account(std::int64_t now_ns) noexcept;

}  // namespace kilter::regions
