#include "openmp/runtime.hpp"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>

#include <atomic>
#include <initializer_list>

#include "guest/guest.hpp"

namespace kilter::regions {

namespace {

struct library {
  const char* name;
  const char* names[3];  // parts of the names of its files
  const char* mark;      // a function that only such a library has
  void* handle;
};
library libraries[] = {{"libgomp", {"libgomp", nullptr, nullptr}, "GOMP_parallel", nullptr},
                       {"libomp", {"libomp", "libiomp", nullptr}, "__kmpc_fork_call", nullptr}};

library& of(runtime r) noexcept { return libraries[static_cast<unsigned>(r)]; }

void* opened(const char* path, const char* mark) noexcept {
  void* const handle = path && *path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
  return handle && dlsym(handle, mark) ? handle : nullptr;
}

/// Null: it is not loaded yet.
void* handle_of(runtime r) noexcept {
  library& wanted = of(r);
  if (wanted.handle) return wanted.handle;
  Dl_info where{};
  if (void* const at = dlsym(RTLD_NEXT, wanted.mark); at && dladdr(at, &where) != 0)
    wanted.handle = opened(where.dli_fname, wanted.mark);
  if (!wanted.handle)
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* data) {
          library& l = *static_cast<library*>(data);
          for (const char* const* part = l.names; *part && !l.handle; ++part)
            if (info->dlpi_name && strstr(info->dlpi_name, *part))
              l.handle = opened(info->dlpi_name, l.mark);
          return l.handle ? 1 : 0;
        },
        &wanted);
  return wanted.handle;
}

/// Since the process began.
unsigned long long modules_loaded() noexcept {
  unsigned long long count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        *static_cast<unsigned long long*>(data) = info->dlpi_adds;
        return 1;
      },
      &count);
  return count;
}

}  // namespace

const char* name_of(runtime r) noexcept { return of(r).name; }

void* real_if_any(runtime r, const char* name) noexcept {
  void* const handle = handle_of(r);
  void* const at = handle ? dlsym(handle, name) : nullptr;
  return at ? at : dlsym(RTLD_NEXT, name);
}

void* real(runtime r, const char* name) noexcept {
  void* const at = real_if_any(r, name);
  if (!at) {
    guest::tell("%s calls %s, and no loaded library has it", guest::name_of_program(), name);
    abort();
  }
  return at;
}

void* real_of_first(const char* name) noexcept {
  // so many modules, as had been loaded by then; a search takes longer than those who ask may have
  static std::atomic<unsigned long long> none_among{0};
  const unsigned long long modules = modules_loaded();
  if (none_among.load(std::memory_order_relaxed) == modules) return nullptr;
  if (void* const at = dlsym(RTLD_NEXT, name)) return at;
  for (const runtime r : {runtime::libgomp, runtime::libomp})
    if (void* const handle = handle_of(r)) return dlsym(handle, name);
  none_among.store(modules, std::memory_order_relaxed);
  return nullptr;
}

bool watched_by_tool() noexcept {
  void* const starts = dlsym(RTLD_DEFAULT, "ompt_start_tool");
  Dl_info where{};
  if (!starts || dladdr(starts, &where) == 0 || !where.dli_fname) return false;
  for (const char* const* part = of(runtime::libomp).names; *part; ++part)
    if (strstr(where.dli_fname, *part)) return false;  // its own, which stands for none
  return true;
}

const char* watched_by_sanitizer() noexcept {
  static constexpr const char* all[] = {"__tsan_init", "__asan_init", "__hwasan_init",
                                        "__msan_init"};
  for (const char* const begins : all)
    if (dlsym(RTLD_DEFAULT, begins)) return begins;
  return nullptr;
}

bool one_for_both() noexcept {
  const void* const gomp = handle_of(runtime::libgomp);
  return !gomp || gomp == handle_of(runtime::libomp);
}

}  // namespace kilter::regions
