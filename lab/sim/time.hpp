#pragma once
// Virtual time: picoseconds in 64 bits. Every duration is rounded once, when it is scheduled. No
// run may last longer than `longest`, 53 days, so that the end of whatever begins within one can be
// told.

#include <cstdint>
#include <limits>

namespace kilter::sim {

using sim_time = std::int64_t;

inline constexpr sim_time never = std::numeric_limits<sim_time>::max();
inline constexpr sim_time longest = never / 2;
inline constexpr double ps_per_s = 1e12;

/// `s` is not negative; `longest` for whatever is as long or no number.
constexpr sim_time to_time(double s) noexcept {
  const double ps = s * ps_per_s + 0.5;
  return ps < static_cast<double>(longest) ? static_cast<sim_time>(ps) : longest;
}
constexpr double to_seconds(sim_time t) noexcept { return static_cast<double>(t) / ps_per_s; }

}  // namespace kilter::sim
