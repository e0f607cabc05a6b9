#pragma once
// Reads a program's file.

#include <string>

#include "regions/program_file.hpp"

namespace kilter::regions::os {

/// What exec would run for this first word of a command; nothing of it is run. Throws nothing for
/// what the files hold.
[[nodiscard]] program_file look_at_program(const std::string& word);
/// Whether its code has instructions by which `#pragma omp flush` orders memory. All of the code is
/// read.
[[nodiscard]] bool has_fences(const program_file&);

}  // namespace kilter::regions::os
