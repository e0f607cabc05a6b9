#pragma once
// Virtual time: picoseconds in 64 bits, enough for a hundred days. Every duration is rounded once, when it is scheduled.

#include <cstdint>
#include <limits>

namespace kilter::sim {

using sim_time = std::int64_t;

inline constexpr sim_time never = std::numeric_limits<sim_time>::max();
inline constexpr double ps_per_s = 1e12;

/// `s` in 0 .. 9e6.
constexpr sim_time to_time(double s) noexcept { return static_cast<sim_time>(s * ps_per_s + 0.5); }
constexpr double to_seconds(sim_time t) noexcept { return static_cast<double>(t) / ps_per_s; }

}  // namespace kilter::sim
