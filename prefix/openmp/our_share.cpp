#include "openmp/our_share.hpp"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <atomic>

#include "openmp/clock.hpp"
#include "sharing/page.hpp"

namespace kilter::regions {

namespace {

constexpr std::int64_t every_ns = 50'000'000, never_ns = INT64_MAX;
static_assert(CPU_SETSIZE == sharing::most_cpus && sizeof(cpu_set_t) == sizeof(sharing::cpu_bits));

std::atomic<std::int64_t> due_ns{0};
// somebody renews it; what follows is that one's
std::atomic<bool> busy{false};
constinit sharing::page page;
std::atomic<std::uint32_t> changes{0};
std::atomic<std::uint64_t> share[sharing::cpu_bits::words];

bool is_wanted() noexcept {
  const char* const variable = getenv("KILTER_SHARING");
  return variable && !strcmp(variable, "1");
}

void set_share(const sharing::cpu_bits& cpus) noexcept {
  if (our_share() == cpus) return;
  for (std::uint32_t n = 0; n < sharing::cpu_bits::words; ++n)
    share[n].store(cpus.word[n], std::memory_order_relaxed);
  changes.fetch_add(1, std::memory_order_release);
}

void renew(std::uint32_t could_use) noexcept {
  const int error = errno;
  cpu_set_t mask;
  sharing::cpu_bits allowed;
  const bool known = sched_getaffinity(getpid(), sizeof mask, &mask) == 0;
  errno = error;
  if (!known) return;  // its first thread has ended
  memcpy(allowed.word, &mask, sizeof allowed.word);
  const sharing::share now =
      page.beat(allowed, 100 * (could_use < sharing::most_cpus ? could_use : sharing::most_cpus));
  set_share(now.others > 0 ? now.cpus : sharing::cpu_bits{});
}

__attribute__((destructor)) void leave() {
  // for good: what ends renews nothing
  if (!busy.exchange(true, std::memory_order_acquire)) page.leave();
}

}  // namespace

std::uint32_t renew_share(std::uint32_t could_use) noexcept {
  const std::int64_t due = due_ns.load(std::memory_order_relaxed);
  if (due != never_ns) {
    if (const std::int64_t now = now_ns();
        now >= due && !busy.exchange(true, std::memory_order_acquire)) {
      const bool wanted = due != 0 || is_wanted();
      due_ns.store(wanted ? now + every_ns : never_ns, std::memory_order_relaxed);
      if (wanted) renew(could_use);
      busy.store(false, std::memory_order_release);
    }
  }
  return changes.load(std::memory_order_acquire);
}

sharing::cpu_bits our_share() noexcept {
  sharing::cpu_bits cpus;
  for (std::uint32_t n = 0; n < sharing::cpu_bits::words; ++n)
    cpus.word[n] = share[n].load(std::memory_order_relaxed);
  return cpus;
}

void forget_share() noexcept {
  page.forget_after_fork();
  if (due_ns.load(std::memory_order_relaxed) != never_ns)
    due_ns.store(0, std::memory_order_relaxed);
  busy.store(false, std::memory_order_relaxed);
  set_share({});
}

}  // namespace kilter::regions
