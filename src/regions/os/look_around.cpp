#include "regions/os/look_around.hpp"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "balance/os/cpu_mask.hpp"
#include "balance/os/idle_times.hpp"
#include "kilter/machine.hpp"
#include "machine/cgroup.hpp"

namespace kilter::regions::os {

namespace {

std::string stat_text() {
  std::ifstream in("/proc/stat");
  return {std::istreambuf_iterator<char>(in), {}};
}

double now_s() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

void sleep_ms(long ms) {
  const timespec t{0, ms * 1'000'000};
  ::nanosleep(&t, nullptr);
}

/// Several looks: one alone would often see who has just started us and is about to wait, and miss who pauses for a moment.
bool anything_else_runs() {
  constexpr int looks = 5;
  int seen = 0;
  for (int look = 0; look < looks; ++look) {
    if (look > 0) sleep_ms(1);
    if (running_threads(stat_text()) > 1) ++seen;
  }
  return seen > looks / 2;
}

/// The part of each CPU's time in which it was not idle while we slept.
void measure_use(std::vector<usable_cpu>& cpus) {
  const double begin_s = now_s();
  const auto before = balance::os::parse_idle(stat_text());
  sleep_ms(100);
  const auto after = balance::os::parse_idle(stat_text());
  const double ticks = (now_s() - begin_s) * static_cast<double>(::sysconf(_SC_CLK_TCK));
  for (usable_cpu& c : cpus) {
    const auto i = static_cast<std::size_t>(c.os_index);
    if (i >= before.size() || i >= after.size()) continue;
    const auto idle = static_cast<double>(after[i] - std::min(after[i], before[i]));
    c.used_by_others = std::clamp(1.0 - idle / ticks, 0.0, 1.0);
  }
}

}  // namespace

unsigned running_threads(const std::string& stat) {
  std::istringstream lines(stat);
  for (std::string line; std::getline(lines, line);)
    if (unsigned n = 0; line.starts_with("procs_running ") && std::istringstream(line.substr(14)) >> n) return n;
  return 0;
}

surroundings look_around() {
  const machine here = machine::local({.smt = true});
  const auto kinds = here.kinds();
  const bool speeds_known = std::all_of(kinds.begin(), kinds.end(), [](const core_kind& k) { return k.relative_speed > 0.0; });
  surroundings s;
  for (const core& c : here.cores()) s.cpus.push_back({c.os_index, speeds_known ? kinds[c.kind].relative_speed : 1.0});
  s.online = static_cast<std::uint32_t>(std::max<int>(balance::os::online_cpus().count(), static_cast<int>(s.cpus.size())));
  s.quota = detail::cgroup_quota("/");
  s.quota_of_own_group = detail::own_cgroup_quota("/");
  if (anything_else_runs()) measure_use(s.cpus);
  return s;
}

}  // namespace kilter::regions::os
