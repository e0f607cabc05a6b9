#pragma once
// A task as a policy knows it, and the bytes of it that belong to the policy.

#include <cstdint>

#include "kilter/version.hpp"

namespace kilter {
inline namespace v0 {

/// A task as a policy knows it: a name to ask the view about. Empty where there is none (a root has
/// no parent).
struct task_ref {
  std::uintptr_t handle = 0;
  explicit operator bool() const noexcept { return handle != 0; }
  friend bool operator==(task_ref, task_ref) = default;
};

/// The sixteen bytes of a task that belong to the policy. Zero when a run of the graph starts.
struct task_state {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  friend bool operator==(const task_state&, const task_state&) = default;
};

}  // namespace v0
}  // namespace kilter
