#pragma once
// Where in a program's sources its parallel regions are, as binutils' addr2line reads it from the
// debugging information.

#include <string>
#include <vector>

#include "regions/account.hpp"

namespace kilter::regions::os {

/// Fills in `source` of each region whose module has debugging information. `program`: the file of
/// regions that name no module. Without addr2line, or if it takes longer than some seconds, nothing
/// is filled in.
void find_sources(std::vector<process_account>&, const std::string& program);

}  // namespace kilter::regions::os
