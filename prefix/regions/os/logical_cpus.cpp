#include "regions/os/logical_cpus.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <fstream>

#include "machine/cgroup.hpp"

namespace kilter::regions::os {

void find_cores(surroundings& s) {
  const auto count = static_cast<std::uint32_t>(s.cpus.size());
  if (const std::uint32_t paid = detail::paid_cores(s.quota, count); paid < 2 || paid == count)
    return;
  for (usable_cpu& c : s.cpus) c.core = core_of(c.os_index);
}

int core_of(int cpu) {
  std::ifstream siblings(
      fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu));
  int first = -1;
  return siblings >> first ? first : -1;
}

int cpu_here() noexcept { return ::sched_getcpu(); }

}  // namespace kilter::regions::os
