#pragma once
// What a program may use of this computer, and what others use of that just now.

#include "regions/environment.hpp"

namespace kilter::regions::os {

/// Takes a tenth of a second if anything else runs, else some milliseconds. Throws input_error if the computer cannot be read.
[[nodiscard]] surroundings look_around();

/// Threads that run or could run on the computer, the asking one included, from the text of /proc/stat; 0 if it does not say.
[[nodiscard]] unsigned running_threads(const std::string& stat);

}  // namespace kilter::regions::os
