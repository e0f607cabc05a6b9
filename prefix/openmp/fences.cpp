// Whether a module's code orders memory as `#pragma omp flush` does.

#include <link.h>

#include "openmp/region.hpp"
#include "regions/fences.hpp"

namespace kilter::regions {

namespace {

struct looked_at_module {
  std::uintptr_t begin;
  bool has;
};
constexpr std::uint32_t most_modules = 64;
looked_at_module looked_at[most_modules];
std::uint32_t looked_at_count = 0;
moment looking;  // held for both

#if defined(__x86_64__)
constexpr bool can_tell = true;
#else
constexpr bool can_tell = false;
#endif

struct search {
  std::uintptr_t at;
  std::uintptr_t begin = 0;
  bool has = false;
};

int look(dl_phdr_info* info, std::size_t, void* data) noexcept {
  search& wanted = *static_cast<search*>(data);
  const auto each = [&](const auto& visit) {
    for (int i = 0; i < info->dlpi_phnum; ++i)
      if (info->dlpi_phdr[i].p_type == PT_LOAD && visit(info->dlpi_phdr[i])) return true;
    return false;
  };
  if (!each([&](const ElfW(Phdr) & p) {
        return wanted.at - info->dlpi_addr - p.p_vaddr < p.p_memsz;
      }))
    return 0;
  wanted.begin = info->dlpi_addr;
  for (std::uint32_t n = 0; n < looked_at_count; ++n)
    if (looked_at[n].begin == wanted.begin) {
      wanted.has = looked_at[n].has;
      return 1;
    }
  wanted.has = each([&](const ElfW(Phdr) & p) {
    constexpr auto readable_code = PF_R | PF_X;
    return (p.p_flags & readable_code) == readable_code && can_tell &&
           has_fence(reinterpret_cast<const unsigned char*>(info->dlpi_addr + p.p_vaddr),
                     p.p_filesz);
  });
  if (looked_at_count < most_modules) looked_at[looked_at_count++] = {wanted.begin, wanted.has};
  return 1;
}

}  // namespace

bool has_fences(const void* address) noexcept {
  const hold one(looking);
  search s{reinterpret_cast<std::uintptr_t>(address)};
  return dl_iterate_phdr(look, &s) == 0 || s.has;
}

bool has_fences(region& r) noexcept {
  answer has = r.has_fences.load(std::memory_order_relaxed);
  // to find the module alone takes microseconds where there are many, as in Python
  if (has == answer::not_yet) {
    has = has_fences(reinterpret_cast<const void*>(r.run.load(std::memory_order_relaxed)))
              ? answer::yes
              : answer::no;
    r.has_fences.store(has, std::memory_order_relaxed);
  }
  return has == answer::yes;
}

}  // namespace kilter::regions
