#include "openmp/openblas.hpp"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "guest/guest.hpp"
#include "openmp/blas_threads.hpp"
#include "openmp/clock.hpp"
#include "openmp/extra.hpp"
#include "openmp/library_waits.hpp"
#include "openmp/mask.hpp"
#include "openmp/others.hpp"
#include "openmp/pool_threads.hpp"

namespace kilter::regions {

namespace {

// ---- which modules are OpenBLAS -----------------------------------------------------------------

struct open_blas {
  int (*get)() = nullptr;
  void (*set)(int) = nullptr;
  blas_number number{};
};
constexpr std::uint32_t most_libraries = 8, most_others = 64;  // of modules that make threads
open_blas libraries[most_libraries];
std::atomic<std::uint32_t> library_count{0};
struct looked_at_module {
  std::uintptr_t begin;
  bool is_openblas;
};
looked_at_module looked_at[most_libraries + most_others];
std::uint32_t looked_at_count = 0;
moment looking;  // held for both
std::atomic<bool> watched{false};
std::atomic<std::uint32_t> first_threads{0}, fewest{0};
std::atomic<std::uint64_t> changes{0};

/// Its makers let packagers put something before and after each name.
constexpr const char* names[][2] = {
    {"openblas_get_num_threads", "openblas_set_num_threads"},
    {"openblas_get_num_threads64_", "openblas_set_num_threads64_"},
    {"scipy_openblas_get_num_threads", "scipy_openblas_set_num_threads"},
    {"scipy_openblas_get_num_threads64_", "scipy_openblas_set_num_threads64_"}};

struct module_place {
  std::uintptr_t address, begin;
  const char* path;
};
module_place module_at_address(const void* address) noexcept {
  module_place place{reinterpret_cast<std::uintptr_t>(address), 0, nullptr};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto& wanted = *static_cast<module_place*>(data);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& p = info->dlpi_phdr[i];
          if (p.p_type != PT_LOAD || wanted.address - info->dlpi_addr - p.p_vaddr >= p.p_memsz)
            continue;
          wanted.begin = info->dlpi_addr;
          wanted.path = info->dlpi_name;
          return 1;
        }
        return 0;
      },
      &place);
  return place;
}

/// It stays loaded: whoever watches it calls it.
bool open_library(const char* path, open_blas& found) noexcept {
  void* const handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (!handle) return false;
  for (const auto& name : names) {
    kept_as(found.get, dlsym(handle, name[0]));
    kept_as(found.set, dlsym(handle, name[1]));
    if (found.get && found.set) return true;
  }
  dlclose(handle);
  return false;
}

bool is_wanted() noexcept {  // others' constructors run before ours
  static std::atomic<int> wanted{-1};
  int is = wanted.load(std::memory_order_relaxed);
  if (is < 0) {
    const char* const variable = getenv("KILTER_OPENBLAS");
    is = variable && !strcmp(variable, "1");
    wanted.store(is, std::memory_order_relaxed);
  }
  return is == 1;
}

// ---- the thread that watches --------------------------------------------------------------------

void revise(open_blas& b, std::uint32_t worth_it) noexcept {
  const auto now = static_cast<std::uint32_t>(std::max(1, b.get()));
  const std::uint32_t wanted = b.number.next(now, worth_it);
  if (&b == &libraries[0]) {
    first_threads.store(b.number.asked(), std::memory_order_relaxed);
    if (const std::uint32_t least = fewest.load(std::memory_order_relaxed);
        least == 0 || wanted < least)
      fewest.store(wanted, std::memory_order_relaxed);
  }
  if (wanted == now) return;
  b.set(static_cast<int>(wanted));
  changes.fetch_add(1, std::memory_order_relaxed);
}

/// True: a program has lowered a number itself, and may set it back to one that is too high at any
/// moment.
bool revise_all(std::uint32_t worth_it) noexcept {
  bool lowered = false;
  for (std::uint32_t n = 0; n < library_count.load(std::memory_order_acquire); ++n) {
    revise(libraries[n], worth_it);
    lowered = lowered || libraries[n].number.lowered_below(worth_it);
  }
  return lowered;
}

void sleep_for(std::int64_t ns) noexcept {
  const timespec time{ns / 1'000'000'000, ns % 1'000'000'000};
  nanosleep(&time, nullptr);
}

constexpr std::int64_t while_ns = 100'000'000;
/// Python's packages set the number to one for moments, and back to what they found: who looks only
/// now and then finds one all the time, and lowers nothing.
constexpr std::int64_t moment_ns = 2'000'000;
constexpr int most_moments = 500;

void* watch(void*) {
  cpu_set_t mask;
  if (sched_getaffinity(getpid(), sizeof mask, &mask) != 0) return nullptr;
  others_use others;
  own_wait own;
  threads_beside many(static_cast<std::uint32_t>(CPU_COUNT(&mask)));
  blas_beside_regions beside;
  std::uint32_t worth_it = static_cast<std::uint32_t>(CPU_COUNT(&mask));
  for (int moments = 0;;) {
    std::int64_t left_ns = while_ns;
    for (; left_ns > moment_ns && moments > 0 && revise_all(worth_it);
         --moments, left_ns -= moment_ns)
      sleep_for(moment_ns);
    sleep_for(left_ns);
    const double told = others.since_before_if_worked();
    if (told < 0.0) continue;
    const double used = told < others.least_told() ? 0.0 : told;
    const std::int64_t regions = library_regions() + std::int64_t{latest_region().number};
    // Where others use a CPU one of ours waits there: that is not the fault of its own threads.
    const bool one =
        beside.after(regions != 0 ? own.since_before() - used : 0.0, regions, now_ns());
    const std::uint32_t before = worth_it;
    worth_it = one ? 1 : many.after(used);
    if (worth_it < before) moments = most_moments;
    static_cast<void>(revise_all(worth_it));
  }
}

/// Whether an OpenBLAS lies at this address. Each module is looked at once.
bool is_openblas(const void* address) noexcept {
  const module_place module = module_at_address(address);
  // the program itself: if OpenBLAS is linked into it, its names are not to be found
  if (!module.path || !*module.path) return false;
  const hold h(looking);
  for (std::uint32_t n = 0; n < looked_at_count; ++n)
    if (looked_at[n].begin == module.begin) return looked_at[n].is_openblas;
  const std::uint32_t count = library_count.load(std::memory_order_relaxed);
  if (looked_at_count == most_libraries + most_others || count == most_libraries) return false;
  const bool is = open_library(module.path, libraries[count]);
  looked_at[looked_at_count++] = {module.begin, is};
  if (is) library_count.store(count + 1, std::memory_order_release);
  return is;
}

void watch_if_openblas(const void* maker) noexcept {
  if (!is_openblas(maker) || watched.exchange(true, std::memory_order_relaxed)) return;
  if (!start_thread(watch, nullptr)) watched.store(false, std::memory_order_relaxed);
}

}  // namespace

blas_numbers blas_so_far() noexcept {
  return {library_count.load(std::memory_order_acquire),
          first_threads.load(std::memory_order_relaxed), fewest.load(std::memory_order_relaxed),
          changes.load(std::memory_order_relaxed)};
}

void forget_blas() noexcept {
  watched.store(false, std::memory_order_relaxed);
  looking.unlock();  // a thread that is not there any more may have held it
}

}  // namespace kilter::regions

/// OpenBLAS makes its threads when it is loaded, and again after a fork: so it is found, whoever
/// loads it.
KILTER_EXPORTED int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                   void* (*f)(void*), void* argument) noexcept {
  static int (*real)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  if (kilter::guest::next(real, "pthread_create") == nullptr) return ENOSYS;
  kilter::regions::follow_mask();
  const int error = real(thread, attributes, f, argument);
  if (error == 0 && kilter::regions::is_wanted())
    kilter::regions::watch_if_openblas(__builtin_return_address(0));
  return error;
}
