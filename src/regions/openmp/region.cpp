#include "regions/openmp/region.hpp"

#include <link.h>

#include "regions/openmp/known.hpp"
#include "regions/openmp_calls.hpp"

namespace kilter::regions {

namespace {

constexpr std::uint32_t slots = 4096;
region known[slots];                          // open addressing
std::atomic<std::uint16_t> order[slots];      // slot of the n-th
std::atomic<std::uint32_t> count{0};

/// What a module takes from others is what its relocations name.
void look_at_taken(const dl_phdr_info& module, module_at& found) noexcept {
  const ElfW(Dyn)* entry = nullptr;
  for (int i = 0; i < module.dlpi_phnum; ++i)
    if (module.dlpi_phdr[i].p_type == PT_DYNAMIC) entry = reinterpret_cast<const ElfW(Dyn)*>(module.dlpi_addr + module.dlpi_phdr[i].p_vaddr);
  if (!entry) return;
  std::uintptr_t values[DT_JMPREL + 1] = {};
  for (; entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag > 0 && entry->d_tag <= DT_JMPREL) values[entry->d_tag] = entry->d_un.d_val;
  // The loader has made addresses of most, not of all.
  const auto at = [&](std::uintptr_t p) { return p < module.dlpi_addr ? p + module.dlpi_addr : p; };
  if (values[DT_SYMTAB] == 0 || values[DT_STRTAB] == 0 || values[DT_REL] != 0 || (values[DT_JMPREL] != 0 && values[DT_PLTREL] != DT_RELA)) return;
  const auto* const symbols = reinterpret_cast<const ElfW(Sym)*>(at(values[DT_SYMTAB]));
  const auto* const names = reinterpret_cast<const char*>(at(values[DT_STRTAB]));
  found.may_fold = true;
  const auto look = [&](std::uintptr_t table, std::uintptr_t bytes) {
    const auto* const all = reinterpret_cast<const ElfW(Rela)*>(at(table));
    for (std::uintptr_t n = 0; table != 0 && n < bytes / sizeof *all; ++n) {
      const auto symbol = ELF64_R_SYM(all[n].r_info);
      if (symbol == 0 || symbols[symbol].st_shndx != SHN_UNDEF) continue;
      const char* const name = names + symbols[symbol].st_name;
      found.may_fold = found.may_fold && may_fold_with(name);
      found.makes_tasks = found.makes_tasks || makes_tasks_with(name);
    }
  };
  look(values[DT_RELA], values[DT_RELASZ]);
  look(values[DT_JMPREL], values[DT_PLTRELSZ]);
}

}  // namespace

region* region_of(body* run, runtime library) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(run);
  std::uint32_t slot = static_cast<std::uint32_t>((address >> 4) * 0x9e3779b97f4a7c15u >> 40) % slots;
  for (std::uint32_t tries = 0; tries < slots; ++tries, slot = (slot + 1) % slots) {
    body* there = known[slot].run.load(std::memory_order_acquire);
    if (there == run) return &known[slot];
    if (there) continue;
    if (known[slot].run.compare_exchange_strong(there, run, std::memory_order_acq_rel)) {
      known[slot].library = library;
      order[count.fetch_add(1, std::memory_order_acq_rel)].store(static_cast<std::uint16_t>(slot), std::memory_order_release);
      const module_at module = module_of(reinterpret_cast<const void*>(run));
      if (module.own_data) leave_to_library(known[slot], reason::own_data);
      known[slot].may_fold.store(module.may_fold && !module.own_data, std::memory_order_relaxed);
      known[slot].makes_tasks.store(module.may_fold && module.makes_tasks, std::memory_order_relaxed);
      if (is_known(module)) known[slot].watched.store(watched_before, std::memory_order_relaxed);
      return &known[slot];
    }
    if (there == run) return &known[slot];
  }
  return nullptr;
}

void leave_to_library(region& r, reason why, std::uint32_t call) noexcept {
  if (r.why.load(std::memory_order_relaxed) != reason::none) return;
  r.call.store(call, std::memory_order_relaxed);
  r.why.store(why, std::memory_order_relaxed);
}

std::uint32_t region_count() noexcept { return count.load(std::memory_order_acquire); }
const region& region_at(std::uint32_t n) noexcept { return known[order[n].load(std::memory_order_acquire)]; }

module_at module_of(const void* address) noexcept {
  struct search {
    std::uintptr_t at;
    module_at found;
  } s{reinterpret_cast<std::uintptr_t>(address), {}};
  dl_iterate_phdr([](dl_phdr_info* info, size_t, void* data) {
    search& wanted = *static_cast<search*>(data);
    bool here = false, own = false;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const ElfW(Phdr)& p = info->dlpi_phdr[i];
      if (p.p_type == PT_LOAD && wanted.at - info->dlpi_addr - p.p_vaddr < p.p_memsz) here = true;
      if (p.p_type == PT_TLS && p.p_memsz > 0) own = true;
    }
    if (!here) return 0;
    wanted.found = {.path = info->dlpi_name ? info->dlpi_name : "", .offset = wanted.at - info->dlpi_addr, .own_data = own};
    look_at_taken(*info, wanted.found);
    return 1;
  }, &s);
  return s.found;
}

}  // namespace kilter::regions
