#pragma once
// A task as the members of a team hold it, and the group that it is in. tasks.hpp tells who runs it
// and when.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "openmp/runtime.hpp"

namespace kilter::regions {

struct dependent;
struct dependences;
struct reductions_of_clang;
struct team;

/// What a member or a task takes over from who came to it, and may set for itself: as
/// omp_get_schedule, omp_get_max_threads and omp_get_dynamic say it.
struct member_settings {
  std::int32_t schedule = 2, chunk = 1;
  std::int32_t max_threads = 1;
  std::int32_t dynamic = 0;
};

/// Tasks, and all that these make, which somebody waits for together.
struct task_group {
  task_group* around = nullptr;
  std::uint32_t waiter = 0;            ///< the member that does
  std::atomic<std::uint32_t> left{0};  ///< tasks that are not over, and `waited_for`
  /// what their tasks add up into, as the program's library describes it
  std::uintptr_t* reductions = nullptr;
  reductions_of_clang* reductions_too = nullptr;  ///< the same of a program of clang

  static constexpr std::uint32_t waited_for = 1u << 31;
};

/// What a member does when it is in no task is one, too: the implicit one.
struct task {
  body* run = nullptr;
  void* data = nullptr;
  /// the one that made it; alive as long as this one is, if `keeps_parent`
  task* parent = nullptr;
  task_group* group = nullptr;  ///< the innermost that it is in
  /// where others wait for it, or it for others; null: none can
  dependent* order = nullptr;
  dependences* of_children = nullptr;        ///< which of its children use what
  task *before = nullptr, *after = nullptr;  ///< in a queue
  std::atomic<std::uint64_t> counts{one_holder};
  /// of a detached one: the end of its function and its event
  std::atomic<std::uint32_t> to_come{0};
  std::uint32_t made_by = 0;  ///< number of the member
  std::uint32_t depth = 0;    ///< of an implicit task 0
  /// of its memory, which begins `gap` before it; 0: it is part of something
  std::uint32_t bytes = 0;
  member_settings settings;
  /// of a detached one; null: its team has one member
  team* of = nullptr;
  bool final_one = false, keeps_parent = false, detached = false;
  bool at_once = false;  ///< who made it waits for it
  /// its function wants to be called once more (an untied task of clang)
  bool again = false;
  /// a task of clang names a function that is called when it is over
  bool cleans_up = false;
  std::uint8_t gap = 0;  ///< bytes of its memory before it

  /// `counts`: its children that are not over, whether somebody waits for these, and who may still
  /// look at it: itself until it is over, and its children.
  static constexpr std::uint64_t one_child = 1, waited_for = std::uint64_t{1} << 31,
                                 one_holder = std::uint64_t{1} << 32;
  [[nodiscard]] static constexpr std::uint32_t children(std::uint64_t counts) noexcept {
    return static_cast<std::uint32_t>(counts & (waited_for - 1));
  }
  [[nodiscard]] static constexpr std::uint32_t holders(std::uint64_t counts) noexcept {
    return static_cast<std::uint32_t>(counts >> 32);
  }
};

}  // namespace kilter::regions
