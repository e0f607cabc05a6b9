#pragma once
// What a program may use of this computer.

#include "regions/environment.hpp"

namespace kilter::regions::os {

/// Takes less than a millisecond where all CPUs are of one kind. Throws input_error if the computer
/// cannot be read.
[[nodiscard]] surroundings look_around();

}  // namespace kilter::regions::os
