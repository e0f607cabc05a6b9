#include "peers/affinity.hpp"

#include <sched.h>

namespace kilter::bench {

namespace {
constexpr int most_cpus = 4096;
constexpr std::size_t set_bytes = CPU_ALLOC_SIZE(most_cpus);
struct cpu_bits {
  alignas(unsigned long) unsigned char bytes[set_bytes] = {};
  cpu_set_t* get() noexcept { return reinterpret_cast<cpu_set_t*>(bytes); }
};
}  // namespace

std::vector<int> allowed_cpus() {
  cpu_bits set;
  std::vector<int> cpus;
  if (::sched_getaffinity(0, set_bytes, set.get()) != 0) return cpus;
  for (int cpu = 0; cpu < most_cpus; ++cpu)
    if (CPU_ISSET_S(static_cast<std::size_t>(cpu), set_bytes, set.get())) cpus.push_back(cpu);
  return cpus;
}

void restrict_thread(const std::vector<int>& cpus) noexcept {
  cpu_bits set;
  for (const int cpu : cpus) CPU_SET_S(static_cast<std::size_t>(cpu), set_bytes, set.get());
  ::sched_setaffinity(0, set_bytes, set.get());
}

}  // namespace kilter::bench
