#pragma once
// The functions of libgomp by which threads of a team do something together. The ABI is that of gcc's manual, "The libgomp ABI".

namespace kilter::regions {

/// Calls that mean something only to a whole team: whoever makes one shows that its region is more than a loop with shares that are settled beforehand.
/// X(name)
#define KILTER_TEAM_CALLS(X)                                                                                                                        \
  X(GOMP_barrier) X(GOMP_barrier_cancel) X(GOMP_single_start) X(GOMP_single_copy_start) X(GOMP_single_copy_end) X(GOMP_scope_start)                  \
  X(GOMP_ordered_start) X(GOMP_ordered_end)                                                                                                         \
  X(GOMP_sections_start) X(GOMP_sections2_start) X(GOMP_sections_next) X(GOMP_sections_end) X(GOMP_sections_end_cancel) X(GOMP_sections_end_nowait)   \
  X(GOMP_loop_start) X(GOMP_loop_ordered_start) X(GOMP_loop_ull_start) X(GOMP_loop_ull_ordered_start)                                                \
  X(GOMP_loop_static_start) X(GOMP_loop_dynamic_start) X(GOMP_loop_guided_start) X(GOMP_loop_runtime_start)                                          \
  X(GOMP_loop_nonmonotonic_dynamic_start) X(GOMP_loop_nonmonotonic_guided_start) X(GOMP_loop_nonmonotonic_runtime_start)                             \
  X(GOMP_loop_maybe_nonmonotonic_runtime_start)                                                                                                      \
  X(GOMP_loop_ordered_static_start) X(GOMP_loop_ordered_dynamic_start) X(GOMP_loop_ordered_guided_start) X(GOMP_loop_ordered_runtime_start)           \
  X(GOMP_loop_static_next) X(GOMP_loop_ordered_static_next) X(GOMP_loop_ordered_dynamic_next) X(GOMP_loop_ordered_guided_next)                        \
  X(GOMP_loop_ordered_runtime_next)                                                                                                                  \
  X(GOMP_loop_ull_static_start) X(GOMP_loop_ull_dynamic_start) X(GOMP_loop_ull_guided_start) X(GOMP_loop_ull_runtime_start)                           \
  X(GOMP_loop_ull_nonmonotonic_dynamic_start) X(GOMP_loop_ull_nonmonotonic_guided_start) X(GOMP_loop_ull_nonmonotonic_runtime_start)                  \
  X(GOMP_loop_ull_maybe_nonmonotonic_runtime_start)                                                                                                  \
  X(GOMP_loop_ull_ordered_static_start) X(GOMP_loop_ull_ordered_dynamic_start) X(GOMP_loop_ull_ordered_guided_start)                                  \
  X(GOMP_loop_ull_ordered_runtime_start)                                                                                                             \
  X(GOMP_loop_ull_static_next) X(GOMP_loop_ull_dynamic_next) X(GOMP_loop_ull_guided_next) X(GOMP_loop_ull_runtime_next)                               \
  X(GOMP_loop_ull_nonmonotonic_dynamic_next) X(GOMP_loop_ull_nonmonotonic_guided_next) X(GOMP_loop_ull_nonmonotonic_runtime_next)                     \
  X(GOMP_loop_ull_maybe_nonmonotonic_runtime_next)                                                                                                   \
  X(GOMP_loop_ull_ordered_static_next) X(GOMP_loop_ull_ordered_dynamic_next) X(GOMP_loop_ull_ordered_guided_next) X(GOMP_loop_ull_ordered_runtime_next) \
  X(GOMP_loop_end) X(GOMP_loop_end_cancel)                                                                                                           \
  X(GOMP_task) X(GOMP_taskloop) X(GOMP_taskloop_ull) X(GOMP_taskwait) X(GOMP_taskwait_depend) X(GOMP_taskyield) X(GOMP_taskgroup_start)               \
  X(GOMP_taskgroup_end) X(GOMP_cancel) X(GOMP_cancellation_point)

}  // namespace kilter::regions
