#pragma once
// The functions of libgomp by which threads of a team do something together. The ABI is that of
// gcc's manual, "The libgomp ABI".

namespace kilter::regions {

/// Calls by which members of a team wait for one another or share work. A region that makes them
/// runs on threads of ours where threads wait passively, as each of its members has a thread of its
/// own: beside a neighbour that wins, alone libgomp is a little quicker (docs/openmp.md). X(name)
// clang-format off
#define KILTER_CALLS_OF_MEMBERS(X) \
  X(GOMP_barrier) X(GOMP_single_start) X(GOMP_single_copy_start) X(GOMP_single_copy_end) \
  X(GOMP_sections_start) X(GOMP_sections_next) X(GOMP_sections_end) X(GOMP_sections_end_nowait) \
  X(GOMP_loop_static_start) X(GOMP_loop_dynamic_start) X(GOMP_loop_guided_start) \
  X(GOMP_loop_runtime_start) X(GOMP_loop_nonmonotonic_dynamic_start) \
  X(GOMP_loop_nonmonotonic_guided_start) X(GOMP_loop_nonmonotonic_runtime_start) \
  X(GOMP_loop_maybe_nonmonotonic_runtime_start) X(GOMP_loop_static_next) \
  X(GOMP_loop_ull_static_start) X(GOMP_loop_ull_dynamic_start) X(GOMP_loop_ull_guided_start) \
  X(GOMP_loop_ull_runtime_start) X(GOMP_loop_ull_nonmonotonic_dynamic_start) \
  X(GOMP_loop_ull_nonmonotonic_guided_start) X(GOMP_loop_ull_nonmonotonic_runtime_start) \
  X(GOMP_loop_ull_maybe_nonmonotonic_runtime_start) X(GOMP_loop_ull_static_next) \
  X(GOMP_loop_ull_dynamic_next) X(GOMP_loop_ull_guided_next) X(GOMP_loop_ull_runtime_next) \
  X(GOMP_loop_ull_nonmonotonic_dynamic_next) X(GOMP_loop_ull_nonmonotonic_guided_next) \
  X(GOMP_loop_ull_nonmonotonic_runtime_next) X(GOMP_loop_ull_maybe_nonmonotonic_runtime_next) \
  X(GOMP_loop_end) X(GOMP_cancel) X(GOMP_cancellation_point) X(GOMP_barrier_cancel) \
  X(GOMP_sections_end_cancel) X(GOMP_loop_end_cancel)
// clang-format on

/// Tasks. A region that makes them runs on threads of ours where threads wait passively, like the
/// former.
// clang-format off
#define KILTER_CALLS_OF_TASKS(X) \
  X(GOMP_task) X(GOMP_taskloop) X(GOMP_taskloop_ull) X(GOMP_taskwait) X(GOMP_taskwait_depend) \
  X(GOMP_taskwait_depend_nowait) X(GOMP_taskyield) X(GOMP_taskgroup_start) X(GOMP_taskgroup_end) \
  X(GOMP_taskgroup_reduction_register) X(GOMP_taskgroup_reduction_unregister) \
  X(GOMP_task_reduction_remap)
// clang-format on

/// Loops whose iterations have an order. They run on threads of ours where a team is folded: there
/// who waits for its turn holds up nobody. Else libgomp is quicker.
// clang-format off
#define KILTER_CALLS_IN_ORDER(X) \
  X(GOMP_ordered_start) X(GOMP_ordered_end) X(GOMP_loop_ordered_static_start) \
  X(GOMP_loop_ordered_dynamic_start) X(GOMP_loop_ordered_guided_start) \
  X(GOMP_loop_ordered_runtime_start) X(GOMP_loop_ordered_static_next) \
  X(GOMP_loop_ordered_dynamic_next) X(GOMP_loop_ordered_guided_next) \
  X(GOMP_loop_ordered_runtime_next) X(GOMP_loop_ull_ordered_static_start) \
  X(GOMP_loop_ull_ordered_dynamic_start) X(GOMP_loop_ull_ordered_guided_start) \
  X(GOMP_loop_ull_ordered_runtime_start) X(GOMP_loop_ull_ordered_static_next) \
  X(GOMP_loop_ull_ordered_dynamic_next) X(GOMP_loop_ull_ordered_guided_next) \
  X(GOMP_loop_ull_ordered_runtime_next)
// clang-format on

/// Loops whose iterations wait for single other ones, and constructs that may have reductions of
/// tasks with them. A region that makes one of these calls is left to libgomp.
// clang-format off
#define KILTER_CALLS_FOR_LIBGOMP(X) \
  X(GOMP_scope_start) X(GOMP_sections2_start) X(GOMP_loop_start) X(GOMP_loop_ull_start) \
  X(GOMP_loop_ordered_start) X(GOMP_loop_ull_ordered_start) X(GOMP_loop_doacross_start) \
  X(GOMP_loop_doacross_static_start) X(GOMP_loop_doacross_dynamic_start) \
  X(GOMP_loop_doacross_guided_start) X(GOMP_loop_doacross_runtime_start) \
  X(GOMP_loop_ull_doacross_start) X(GOMP_loop_ull_doacross_static_start) \
  X(GOMP_loop_ull_doacross_dynamic_start) X(GOMP_loop_ull_doacross_guided_start) \
  X(GOMP_loop_ull_doacross_runtime_start) X(GOMP_doacross_post) X(GOMP_doacross_wait) \
  X(GOMP_doacross_ull_post) X(GOMP_doacross_ull_wait)
// clang-format on

/// Calls of libgomp that are carried out by us and may be made by anybody, or that are right with
/// libgomp wherever they are made.
// clang-format off
#define KILTER_CALLS_OF_ANYBODY(X) \
  X(GOMP_parallel) X(GOMP_parallel_loop_static) X(GOMP_parallel_loop_dynamic) \
  X(GOMP_parallel_loop_guided) X(GOMP_parallel_loop_nonmonotonic_dynamic) \
  X(GOMP_parallel_loop_nonmonotonic_guided) X(GOMP_parallel_loop_runtime) \
  X(GOMP_parallel_loop_nonmonotonic_runtime) X(GOMP_parallel_loop_maybe_nonmonotonic_runtime) \
  X(GOMP_parallel_sections) X(GOMP_loop_dynamic_next) X(GOMP_loop_guided_next) \
  X(GOMP_loop_runtime_next) X(GOMP_loop_nonmonotonic_dynamic_next) \
  X(GOMP_loop_nonmonotonic_guided_next) X(GOMP_loop_nonmonotonic_runtime_next) \
  X(GOMP_loop_maybe_nonmonotonic_runtime_next) X(GOMP_loop_end_nowait) X(GOMP_critical_start) \
  X(GOMP_critical_end) X(GOMP_critical_name_start) X(GOMP_critical_name_end) X(GOMP_atomic_start) \
  X(GOMP_atomic_end)
// clang-format on

/// Calls that mean something only to a whole team.
// clang-format off
#define KILTER_TEAM_CALLS(X) \
  KILTER_CALLS_OF_MEMBERS(X) KILTER_CALLS_OF_TASKS(X) KILTER_CALLS_IN_ORDER(X) \
  KILTER_CALLS_FOR_LIBGOMP(X)
// clang-format on

}  // namespace kilter::regions
