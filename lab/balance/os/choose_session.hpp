#pragma once
// Who observes and who decides in a session, as the user said or as this computer allows.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "balance/os/observer.hpp"
#include "balance/os/playback.hpp"
#include "balance/os/session.hpp"

namespace kilter::balance::os {

/// What `auto` takes where nothing tells of misses.
inline constexpr std::string_view without_counters = "spread";

struct session_choice {
  std::string policy, observer_name;
  std::unique_ptr<observer> sees;  ///< or
  std::unique_ptr<playback> recording;
  std::vector<std::string> why;  ///< for people: which observer, and why not a better one
};

/// input_error for an observer that there is not, that does not work here, or whose recording
/// cannot be read.
[[nodiscard]] session_choice choose_session(const machine&, const session_options&);

}  // namespace kilter::balance::os
