#pragma once
// Programs with parallel regions that run now and tell of them: those of `kilter run --explain`, --json, --html and --history.

#include <vector>

#include "regions/explained.hpp"

namespace kilter::regions::os {

struct running_process {
  std::string program;   ///< path of its file
  told_process told;     ///< as it was at most a second ago, or when its latest region began
};

/// Of this user; those that go meanwhile are left out. By number.
[[nodiscard]] std::vector<running_process> running_processes();

}  // namespace kilter::regions::os
