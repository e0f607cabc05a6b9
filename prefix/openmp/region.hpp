#pragma once
// What is known of the regions of a program, by the function that the compiler made of each.

#include <atomic>

#include "openmp/runtime.hpp"
#include "openmp/team.hpp"
#include "openmp/trial.hpp"
#include "openmp/waited.hpp"

namespace kilter::regions {

enum class answer : std::uint8_t { not_yet, no, yes };

/// Why a region is left to its library.
enum class reason : std::uint8_t { none, own_data, task_reductions, nested, others_spin };

/// executions under its library before a region is trusted
inline constexpr std::uint32_t watched_before = 2;

struct region {
  std::atomic<body*> run{nullptr};
  runtime library = runtime::libgomp;
  std::atomic<std::uint32_t> watched{0};  ///< executions under its library
  /// from its first execution on; what its module takes from others says so
  std::atomic<bool> may_fold{false};
  std::atomic<answer> has_fences{answer::not_yet};  ///< its module has
  /// as its module may, or as was seen: then its members stay until all are over
  std::atomic<bool> makes_tasks{false};
  std::atomic<reason> why{reason::none};
  std::atomic<team_need> needs{team_need::none};  ///< what its calls have shown so far
  std::atomic<std::uint32_t> call{0};  ///< that showed it: which, as team_call_name counts
  std::atomic<bool> choosing{false};   ///< one thread looks after `way`
  choice_of_way way;                   ///< ours, or its library's
  std::atomic<bool> is_ours{false};    ///< its latest execution was
  std::atomic<std::uint64_t> times{0}, on_pool{0}, ns{0};
  /// of all executions on threads of ours (folded_work)
  std::atomic<std::int64_t> folded_ns{0}, folded_events{0};
  /// folded, on threads of ours, lately; 0 if its members wait for one another
  std::atomic<std::int64_t> took_ns{0};
  /// folded, its members waited for one another, by its library's means, more than once a
  /// millisecond
  std::atomic<bool> is_fine_grained{false};
  std::atomic<std::uint32_t> members{0};  ///< at its latest execution
  waited_times waited;                    ///< of all executions
};

/// Null: there are too many to know them all.
[[nodiscard]] region* region_of(body*, runtime) noexcept;
void leave_to_library(region&, reason) noexcept;
/// Its members made a call that needs so much.
void note_need(region&, team_need, std::uint32_t call) noexcept;

/// In the order in which they came.
[[nodiscard]] std::uint32_t region_count() noexcept;
[[nodiscard]] const region& region_at(std::uint32_t) noexcept;

/// The shared object that an address is in.
struct module_at {
  const char* path = "";
  std::uintptr_t offset = 0;
  bool own_data = false;  ///< it has data of which each thread has a copy
  /// all that it takes from other modules is fine with that (openmp_calls.hpp)
  bool may_fold = false;
  bool makes_tasks = false;    ///< it takes what makes them
  bool reduces_tasks = false;  ///< in loops, which is libgomp's alone (openmp_calls.hpp)
};
[[nodiscard]] module_at module_of(const void*) noexcept;
/// Whether the code of the module at this address has instructions by which `#pragma omp flush`
/// orders memory: its members may wait for one another by flags, which is slow where several share
/// a thread. Each module is looked at once, at a gigabyte or more a second.
[[nodiscard]] bool has_fences(const void*) noexcept;
[[nodiscard]] bool has_fences(region&) noexcept;

}  // namespace kilter::regions
