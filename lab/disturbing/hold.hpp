#pragma once
// `kilter disturb`: a scenario by itself, for programs that know nothing of it.

#include <string>

#include "disturbing/disturber.hpp"

namespace kilter::lab {

/// Reads the scenario and refuses what only makes sense beside a run of ours (nothing at all,
/// windows in fractions). input_error.
[[nodiscard]] std::vector<disturbance> plan_hold(const std::string& spec, const machine&);

/// The same for a disturbance that is there while a program runs: it may be none, and a quota is
/// for that program.
[[nodiscard]] std::vector<disturbance> plan_around_program(const std::string& spec, const machine&);

/// Seconds until the last window closes; infinite if a part has none.
[[nodiscard]] double hold_length_s(const std::vector<disturbance>&);

/// What is about to happen, and how well it is calibrated.
[[nodiscard]] std::string hold_opening(const std::vector<disturbance>&, double length_s,
                                       const disturber&);

/// Starts, waits until the seconds are over or the process is interrupted, and stops.
void hold(disturber&, double length_s);

}  // namespace kilter::lab
