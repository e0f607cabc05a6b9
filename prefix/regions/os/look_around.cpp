#include "regions/os/look_around.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>

#include "host/cpu_mask.hpp"
#include "kilter/machine.hpp"
#include "machine/cgroup.hpp"

namespace kilter::regions::os {

namespace {

/// What the kernel says of a CPU's speed, as it says it; empty: nothing.
std::string speed_text(int cpu) {
  const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu);
  std::string all;
  for (const char* const file :
       {"/cpu_capacity", "/cpufreq/cpuinfo_max_freq", "/acpi_cppc/nominal_perf"}) {
    std::ifstream in(folder + file);
    std::string text;
    if (std::getline(in, text)) all += text + " ";
  }
  return all;
}

std::vector<usable_cpu> of_kinds(const host::cpu_mask& mask) {
  const machine here = machine::local({.smt = true, .all_cpus = true});
  const auto kinds = here.kinds();
  const bool speeds_known = std::all_of(kinds.begin(), kinds.end(),
                                        [](const core_kind& k) { return k.relative_speed > 0.0; });
  std::vector<usable_cpu> cpus;
  for (const core& c : here.cores())
    if (mask.has(c.os_index))
      cpus.push_back({c.os_index, speeds_known ? kinds[c.kind].relative_speed : 1.0});
  return cpus;
}

/// To discover a machine takes longer than many a program that is started, so that is done only
/// where its CPUs may be of several kinds.
std::vector<usable_cpu> usable_cpus(pid_t thread) {
  const auto mask = host::affinity_of(thread);
  if (!mask) return of_kinds(host::cpu_mask::all());
  std::vector<usable_cpu> cpus;
  for (int cpu = 0; cpu < host::cpu_mask::capacity; ++cpu)
    if (mask->has(cpu)) cpus.push_back({cpu});
  const std::string first = speed_text(cpus.front().os_index);
  const bool alike = std::all_of(cpus.begin(), cpus.end(), [&](const usable_cpu& c) {
    return speed_text(c.os_index) == first;
  });
  if (alike) return cpus;
  std::vector<usable_cpu> kinds = of_kinds(*mask);
  return kinds.empty() ? cpus : kinds;
}

}  // namespace

surroundings look_around(pid_t thread) {
  surroundings s;
  s.cpus = usable_cpus(thread);
  s.online = static_cast<std::uint32_t>(
      std::max<int>(host::online_cpus().count(), static_cast<int>(s.cpus.size())));
  s.quota = detail::cgroup_quota("/");
  s.quota_of_own_group = detail::own_cgroup_quota("/");
  return s;
}

}  // namespace kilter::regions::os
