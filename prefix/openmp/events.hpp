#pragma once
// What a program holds of a detached task of ours, until it says that it is over.

#include "openmp/task.hpp"

namespace kilter::regions {

/// Those of libraries are even.
[[nodiscard]] inline void* handle_of_event(task& t) noexcept {
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(&t) + 1);
}
/// Null: it is a library's.
[[nodiscard]] inline task* task_of_event(std::uintptr_t handle) noexcept {
  return (handle & 1) != 0 ? reinterpret_cast<task*>(handle - 1) : nullptr;
}

}  // namespace kilter::regions
