#pragma once
// How long a measurement will take on this machine, before it begins.

#include <cstdint>
#include <span>
#include <string>

#include "measuring/experiment.hpp"

namespace kilter::lab {

/// What takes longer is not begun without the user's word.
inline constexpr double longest_unasked_s = 60.0;

/// Shorter runs are over before a line about them is read.
inline constexpr double shortest_announced_s = 5.0;

struct duration {
  double seconds = 0.0;    ///< of the clock on the wall, at least; 0 in virtual time
  std::uint64_t runs = 0;  ///< of graphs, traced ones included; 0 in virtual time
  duration& operator+=(const duration&) noexcept;
};

/// From the seconds that the graph states, or that its kernel takes when it is tried here, and what
/// the disturbances leave: no run is shorter than work and path on one core each, but for what
/// width gains. Runs a kernel for some hundredths of a second.
[[nodiscard]] duration expected_duration(const experiment&);

/// "45 s", "12 min", "3.5 h", "12 days".
[[nodiscard]] std::string duration_text(double seconds);

/// One line about what is to come; empty if it is too short for that. input_error with the estimate
/// if it is longer than longest_unasked_s and `yes` was not said.
[[nodiscard]] std::string announcement(const duration&, bool yes);

}  // namespace kilter::lab
