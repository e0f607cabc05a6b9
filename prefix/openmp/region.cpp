#include "openmp/region.hpp"

#include <link.h>

#include "openmp/known.hpp"
#include "openmp/mask.hpp"
#include "openmp/taken_names.hpp"
#include "regions/openmp_calls.hpp"

namespace kilter::regions {

namespace {

constexpr std::uint32_t slots = 4096;
region known[slots];                      // open addressing
std::atomic<std::uint16_t> order[slots];  // slot of the n-th
std::atomic<std::uint32_t> count{0};

void look_at_taken(const dl_phdr_info& module, module_at& found) noexcept {
  found.may_fold = true;
  const bool readable = each_taken(module, [&](const char* name) {
    found.may_fold = found.may_fold && may_fold_with(name);
    found.makes_tasks = found.makes_tasks || makes_tasks_with(name);
    found.reduces_tasks = found.reduces_tasks || reduces_tasks_with(name);
  });
  found.may_fold = found.may_fold && readable;
}

}  // namespace

region* region_of(body* run, runtime library) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(run);
  std::uint32_t slot =
      static_cast<std::uint32_t>((address >> 4) * 0x9e3779b97f4a7c15u >> 40) % slots;
  for (std::uint32_t tries = 0; tries < slots; ++tries, slot = (slot + 1) % slots) {
    body* there = known[slot].run.load(std::memory_order_acquire);
    if (there == run) return &known[slot];
    if (there) continue;
    if (known[slot].run.compare_exchange_strong(there, run, std::memory_order_acq_rel)) {
      follow_mask();
      known[slot].library = library;
      order[count.fetch_add(1, std::memory_order_acq_rel)].store(static_cast<std::uint16_t>(slot),
                                                                 std::memory_order_release);
      const module_at module = module_of(reinterpret_cast<const void*>(run));
      if (module.own_data) leave_to_library(known[slot], reason::own_data);
      if (module.reduces_tasks) leave_to_library(known[slot], reason::task_reductions);
      known[slot].may_fold.store(module.may_fold && !module.own_data, std::memory_order_relaxed);
      known[slot].makes_tasks.store(module.may_fold && module.makes_tasks,
                                    std::memory_order_relaxed);
      if (is_known(module)) known[slot].watched.store(watched_before, std::memory_order_relaxed);
      return &known[slot];
    }
    if (there == run) return &known[slot];
  }
  return nullptr;
}

void leave_to_library(region& r, reason why) noexcept {
  if (r.why.load(std::memory_order_relaxed) == reason::none)
    r.why.store(why, std::memory_order_relaxed);
}

void note_need(region& r, team_need need, std::uint32_t call) noexcept {
  if (need <= r.needs.load(std::memory_order_relaxed)) return;
  r.call.store(call, std::memory_order_relaxed);
  r.needs.store(need, std::memory_order_relaxed);
}

std::uint32_t region_count() noexcept { return count.load(std::memory_order_acquire); }
const region& region_at(std::uint32_t n) noexcept {
  return known[order[n].load(std::memory_order_acquire)];
}

module_at module_of(const void* address) noexcept {
  struct search {
    std::uintptr_t at;
    module_at found;
  } s{reinterpret_cast<std::uintptr_t>(address), {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        search& wanted = *static_cast<search*>(data);
        if (!lies_in(*info, wanted.at)) return 0;
        bool own = false;
        for (int i = 0; i < info->dlpi_phnum; ++i)
          if (info->dlpi_phdr[i].p_type == PT_TLS && info->dlpi_phdr[i].p_memsz > 0) own = true;
        wanted.found = {.path = info->dlpi_name ? info->dlpi_name : "",
                        .offset = wanted.at - info->dlpi_addr,
                        .own_data = own};
        look_at_taken(*info, wanted.found);
        return 1;
      },
      &s);
  return s.found;
}

}  // namespace kilter::regions
