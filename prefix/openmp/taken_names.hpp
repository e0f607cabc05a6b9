#pragma once
// What a loaded module takes from others, as its relocations name it.

#include <link.h>

#include <cstdint>

namespace kilter::regions {

[[nodiscard]] inline bool lies_in(const dl_phdr_info& module, std::uintptr_t address) noexcept {
  for (int i = 0; i < module.dlpi_phnum; ++i)
    if (const ElfW(Phdr)& p = module.dlpi_phdr[i];
        p.p_type == PT_LOAD && address - module.dlpi_addr - p.p_vaddr < p.p_memsz)
      return true;
  return false;
}

/// Calls `visit` with each name. False: they cannot be read.
template <class Visit>
bool each_taken(const dl_phdr_info& module, const Visit& visit) noexcept {
  const ElfW(Dyn)* entry = nullptr;
  for (int i = 0; i < module.dlpi_phnum; ++i)
    if (module.dlpi_phdr[i].p_type == PT_DYNAMIC)
      entry = reinterpret_cast<const ElfW(Dyn)*>(module.dlpi_addr + module.dlpi_phdr[i].p_vaddr);
  if (!entry) return false;
  std::uintptr_t values[DT_JMPREL + 1] = {};
  for (; entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag > 0 && entry->d_tag <= DT_JMPREL) values[entry->d_tag] = entry->d_un.d_val;
  // The loader has made addresses of most, not of all.
  const auto at = [&](std::uintptr_t p) { return p < module.dlpi_addr ? p + module.dlpi_addr : p; };
  if (values[DT_SYMTAB] == 0 || values[DT_STRTAB] == 0 || values[DT_REL] != 0 ||
      (values[DT_JMPREL] != 0 && values[DT_PLTREL] != DT_RELA))
    return false;
  const auto* const symbols = reinterpret_cast<const ElfW(Sym)*>(at(values[DT_SYMTAB]));
  const auto* const names = reinterpret_cast<const char*>(at(values[DT_STRTAB]));
  const auto each = [&](std::uintptr_t table, std::uintptr_t bytes) {
    const auto* const all = reinterpret_cast<const ElfW(Rela)*>(at(table));
    for (std::uintptr_t n = 0; table != 0 && n < bytes / sizeof *all; ++n)
      if (const auto symbol = ELF64_R_SYM(all[n].r_info);
          symbol != 0 && symbols[symbol].st_shndx == SHN_UNDEF)
        visit(names + symbols[symbol].st_name);
  };
  each(values[DT_RELA], values[DT_RELASZ]);
  each(values[DT_JMPREL], values[DT_PLTRELSZ]);
  return true;
}

}  // namespace kilter::regions
