#pragma once
// A user's own policy from a shared library that was built against the installed headers
// (kilter/policy_plugin.hpp).

#include <memory>
#include <string>
#include <string_view>

#include "kilter/policy.hpp"

namespace kilter::lab {

/// Names of policies have no slash; paths of libraries must have one.
[[nodiscard]] inline bool is_user_policy(std::string_view name) noexcept {
  return name.find('/') != std::string_view::npos;
}

/// Loads the library, which stays loaded as long as the policy lives. input_error with one line if
/// there is no such file, it is no library, it makes no policy, its policy's queues are not of this
/// machine, or it was built for another version of Kilter. The policy's answers are checked
/// (policy/checked.hpp).
[[nodiscard]] std::shared_ptr<const policy> load_policy(const std::string& path, const machine&,
                                                        const policy_options&);

}  // namespace kilter::lab
