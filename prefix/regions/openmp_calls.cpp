#include "regions/openmp_calls.hpp"

#include <string.h>

#include <algorithm>
#include <iterator>

#include "regions/libgomp.hpp"

namespace kilter::regions {

namespace {

#define NAME(name) #name,
constexpr const char* ours[] = {KILTER_CALLS_OF_ANYBODY(NAME) KILTER_CALLS_OF_MEMBERS(NAME)
                                    KILTER_CALLS_OF_TASKS(NAME) KILTER_CALLS_IN_ORDER(NAME)};
#undef NAME
/// Of clang: those that are carried out here, or given the number of the thread on which a member
/// is now. Not __kmpc_flush: with it members wait for one another by flags.
constexpr const char* ours_of_clang[] = {"__kmpc_fork_call",
                                         "__kmpc_push_num_threads",
                                         "__kmpc_global_thread_num",
                                         "__kmpc_for_static_fini",
                                         "__kmpc_dispatch_deinit",
                                         "__kmpc_barrier",
                                         "__kmpc_single",
                                         "__kmpc_end_single",
                                         "__kmpc_copyprivate",
                                         "__kmpc_master",
                                         "__kmpc_end_master",
                                         "__kmpc_masked",
                                         "__kmpc_end_masked",
                                         "__kmpc_reduce",
                                         "__kmpc_end_reduce",
                                         "__kmpc_reduce_nowait",
                                         "__kmpc_end_reduce_nowait",
                                         "__kmpc_critical",
                                         "__kmpc_critical_with_hint",
                                         "__kmpc_end_critical",
                                         "__kmpc_ordered",
                                         "__kmpc_end_ordered",
                                         "__kmpc_serialized_parallel",
                                         "__kmpc_end_serialized_parallel",
                                         "__kmpc_alloc",
                                         "__kmpc_aligned_alloc",
                                         "__kmpc_free",
                                         "__kmpc_cancel",
                                         "__kmpc_cancellationpoint",
                                         "__kmpc_cancel_barrier",
                                         "__kmpc_omp_task",
                                         "__kmpc_omp_task_parts",
                                         "__kmpc_omp_task_alloc",
                                         "__kmpc_omp_task_with_deps",
                                         "__kmpc_omp_task_begin_if0",
                                         "__kmpc_omp_task_complete_if0",
                                         "__kmpc_omp_reg_task_with_affinity",
                                         "__kmpc_omp_taskwait",
                                         "__kmpc_omp_taskyield",
                                         "__kmpc_omp_wait_deps",
                                         "__kmpc_omp_taskwait_deps_51",
                                         "__kmpc_taskgroup",
                                         "__kmpc_end_taskgroup",
                                         "__kmpc_taskloop",
                                         "__kmpc_taskloop_5",
                                         "__kmpc_task_reduction_init",
                                         "__kmpc_taskred_init",
                                         "__kmpc_task_reduction_modifier_init",
                                         "__kmpc_taskred_modifier_init",
                                         "__kmpc_task_reduction_modifier_fini",
                                         "__kmpc_task_reduction_get_th_data",
                                         "__kmpc_task_allow_completion_event"};
constexpr const char* of_each_number[] = {"__kmpc_for_static_init_", "__kmpc_dispatch_init_",
                                          "__kmpc_dispatch_next_", "__kmpc_dispatch_fini_"};
constexpr const char* making_tasks[] = {"GOMP_task", "GOMP_taskloop", "GOMP_taskloop_ull",
                                        "__kmpc_omp_task_alloc"};
/// Regions in regions with members of their own; locks that know their thread, which a member that
/// waits may leave; the number of CPUs, for which a program may have made room where a member's
/// number leads it; and a pause of the library, which ends with its next region.
constexpr const char* not_with[] = {"omp_set_nested",
                                    "omp_set_max_active_levels",
                                    "omp_set_nest_lock",
                                    "omp_test_nest_lock",
                                    "omp_unset_nest_lock",
                                    "omp_get_num_procs",
                                    "omp_pause_resource",
                                    "get_nprocs",
                                    "_ZNSt6thread20hardware_concurrencyEv"};

bool begins_with(const char* name, const char* part) noexcept {
  return strncmp(name, part, strlen(part)) == 0;
}
template <unsigned N>
bool is_one_of(const char* const (&all)[N], const char* name) noexcept {
  return std::any_of(std::begin(all), std::end(all),
                     [&](const char* one) { return strcmp(name, one) == 0; });
}

}  // namespace

bool may_fold_with(const char* name) noexcept {
  for (const char* const no : not_with)
    if (begins_with(name, no)) return false;  // Fortran's have an underscore more
  if (begins_with(name, "GOACC_") || begins_with(name, "kmp_") || begins_with(name, "__tgt_"))
    return false;
  if (begins_with(name, "__kmpc_"))
    return is_one_of(ours_of_clang, name) ||
           std::any_of(std::begin(of_each_number), std::end(of_each_number),
                       [&](const char* part) { return begins_with(name, part); });
  return !begins_with(name, "GOMP_") || is_one_of(ours, name);
}

bool makes_tasks_with(const char* name) noexcept { return is_one_of(making_tasks, name); }

bool reduces_tasks_with(const char* name) noexcept {
  return strcmp(name, "GOMP_workshare_task_reduction_unregister") == 0;
}

}  // namespace kilter::regions
