#include "regions/openmp_calls.hpp"

#include <string.h>

#include "regions/libgomp.hpp"

namespace kilter::regions {

namespace {

#define NAME(name) #name,
constexpr const char* ours[] = {KILTER_CALLS_OF_ANYBODY(NAME) KILTER_CALLS_OF_MEMBERS(NAME) KILTER_CALLS_IN_ORDER(NAME)};
#undef NAME
/// Regions in regions with members of their own; locks that know their thread, which a member that waits may leave; and the number of CPUs, for which a program may have made
/// room where a member's number leads it.
constexpr const char* not_with[] = {"omp_set_nested", "omp_set_max_active_levels", "omp_set_nest_lock", "omp_test_nest_lock", "omp_unset_nest_lock", "omp_get_num_procs", "get_nprocs",
                                    "_ZNSt6thread20hardware_concurrencyEv"};

bool begins_with(const char* name, const char* part) noexcept { return strncmp(name, part, strlen(part)) == 0; }

}  // namespace

bool may_fold_with(const char* name) noexcept {
  for (const char* const no : not_with)
    if (begins_with(name, no)) return false;   // Fortran's have an underscore more
  if (begins_with(name, "__kmpc_") || begins_with(name, "GOACC_")) return false;
  if (!begins_with(name, "GOMP_")) return true;
  for (const char* const one : ours)
    if (strcmp(name, one) == 0) return true;
  return false;
}

}  // namespace kilter::regions
