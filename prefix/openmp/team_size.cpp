#include "openmp/team_size.hpp"

#include <stdlib.h>

#include <atomic>

#include "guest/guest.hpp"
#include "openmp/beside.hpp"
#include "openmp/clock.hpp"
#include "openmp/parallel.hpp"
#include "openmp/pool.hpp"
#include "openmp/region.hpp"
#include "regions/openmp_settings.hpp"

namespace kilter::regions {

namespace {

enum class settled : std::uint8_t { not_yet, as_it_is, larger };
std::atomic<settled> size{settled::not_yet};
runtime of_library = runtime::libgomp;
__attribute__((tls_model("initial-exec"))) thread_local bool is_told = false;

/// What the user has set decides, and so does the order of sums if it is to stay.
bool user_decides() noexcept {
  for (const char* const name : variables_of_team_size) {
    const char* const value = getenv(name);
    if (value && *value) return true;
  }
  return false;
}

bool is_set(const char* name) noexcept {
  const char* const value = getenv(name);
  return value && !strcmp(value, "1");
}

settled decide(runtime library, const void* place) noexcept {
  if (mode_of(library) != mode::learn || user_decides() || pool_size() < 2 ||
      pool_size() > most_cpus_that_fold)
    return settled::as_it_is;
  look_at_others(now_ns());
  if (!beside_others() && !is_set("KILTER_UNEQUAL_CPUS")) return settled::as_it_is;
  const module_at module = module_of(place);
  return *module.path == '\0' && module.may_fold && !module.own_data && !has_fences(place)
             ? settled::larger
             : settled::as_it_is;
}

}  // namespace

void settle_team_size(runtime library, const void* place) noexcept {
  if (is_told) return;
  settled now = size.load(std::memory_order_acquire);
  if (now == settled::not_yet) {
    of_library = library;
    const settled wanted = decide(library, place);
    if (size.compare_exchange_strong(now, wanted, std::memory_order_acq_rel)) now = wanted;
  }
  is_told = true;
  if (now != settled::larger || library != of_library) return;
  static void (*omp_set_num_threads)(int);
  real_of(library, omp_set_num_threads,
          "omp_set_num_threads")(static_cast<int>(members_a_cpu * pool_size()));
}

void leave_team_size() noexcept {
  settled before = settled::not_yet;
  size.compare_exchange_strong(before, settled::as_it_is, std::memory_order_acq_rel);
  is_told = true;
}

bool teams_are_larger() noexcept { return size.load(std::memory_order_relaxed) == settled::larger; }

}  // namespace kilter::regions
