#pragma once
// Programs that share out CPUs among themselves (sharing/page.hpp), for `kilter top`.

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace kilter::regions::os {

struct sharing_program {
  std::optional<pid_t> pid;  ///< none: it is in a container whose processes have other numbers
  std::string program;       ///< path of its file; empty if that cannot be known
  std::vector<int> allowed;  ///< CPUs that it may use
  std::vector<int> uses;     ///< those that it was told to use
  double could_use = 0.0;    ///< CPUs
};

/// Of this user; of root, those of all users.
[[nodiscard]] std::vector<sharing_program> sharing_programs();

}  // namespace kilter::regions::os
