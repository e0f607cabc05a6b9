#pragma once
// What a program may use of this computer.

#include <sys/types.h>

#include "regions/environment.hpp"

namespace kilter::regions::os {

/// As the mask of this thread says, 0: of the calling one. Takes less than a millisecond where all
/// CPUs are of one kind. Throws input_error if the computer cannot be read.
[[nodiscard]] surroundings look_around(pid_t thread = 0);

}  // namespace kilter::regions::os
