#pragma once
// Programs with parallel regions that run now and tell of them: those of `kilter run --explain`,
// --json, --html and --history.

#include <vector>

#include "regions/account.hpp"

namespace kilter::regions::os {

struct running_process {
  std::string program;  ///< path of its file
  /// as it was at most a second ago, or when its latest region began; its own words, whatever they
  /// are
  process_account told;
  bool own = false;  ///< of this user. What another one's process names is not to be opened
};

/// Those that this user may look at; those that go meanwhile, and whose memory keeps changing or is
/// not what it should be, are left out. By number.
[[nodiscard]] std::vector<running_process> running_processes();

}  // namespace kilter::regions::os
