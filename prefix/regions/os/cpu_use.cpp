#include "regions/os/cpu_use.hpp"

#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "host/cpu_ticks.hpp"
#include "host/proc.hpp"
#include "kilter/machine.hpp"
#include "regions/os/logical_cpus.hpp"
#include "regions/os/sharing_programs.hpp"
#include "sharing/process.hpp"

namespace kilter::regions::os {

namespace {

constexpr double counts = 0.01;  // of a CPU; who used less is no user

std::vector<cpu_in_use> of_this_computer() {
  const machine here = machine::local({.smt = true});
  const auto kinds = here.kinds();
  double fastest = 0.0;
  bool known = true;
  for (const core_kind& k : kinds) {
    fastest = std::max(fastest, k.relative_speed);
    known = known && k.relative_speed > 0.0;
  }
  std::vector<cpu_in_use> cpus;
  for (const core& c : here.cores()) {
    const int first = core_of(c.os_index);
    cpus.push_back({.os_index = c.os_index,
                    .core = first < 0 ? c.os_index : first,
                    .cluster = c.cluster,
                    .kind = kinds[c.kind].name,
                    .speed = known ? kinds[c.kind].relative_speed / fastest : 1.0,
                    .others = 0.0,
                    .users = {}});
  }
  std::ranges::sort(cpus, {}, &cpu_in_use::os_index);
  return cpus;
}

/// CPUs on which the threads of a process are that run now, else that of its first thread.
std::vector<int> places_of(pid_t pid) {
  constexpr std::size_t most_threads = 1024;
  std::vector<int> places;
  for (const pid_t thread :
       host::numbers_in("/proc/" + std::to_string(pid) + "/task", most_threads))
    if (const auto stat = host::stat_of(pid, thread); stat && stat->state == 'R')
      places.push_back(stat->os_cpu);
  if (places.empty())
    if (const auto stat = host::stat_of(pid, pid)) places.push_back(stat->os_cpu);
  return places;
}

void add_sharing_programs(std::vector<cpu_in_use>& cpus) {
  for (const sharing_program& p : sharing_programs()) {
    const double share = p.could_use / std::max(1.0, static_cast<double>(p.uses.size()));
    for (cpu_in_use& c : cpus)
      if (p.pid) {
        for (cpu_user& u : c.users) u.of_kilter = u.of_kilter || u.pid == p.pid;
      } else if (share > 0.0 && std::ranges::find(p.uses, c.os_index) != p.uses.end()) {
        c.users.push_back(
            {.pid = {}, .name = {}, .share = std::min(1.0, share), .of_kilter = true});
      }
  }
}

}  // namespace

cpu_use::cpu_use() : cpus_(of_this_computer()), begin_(take()) {}

cpu_use::sample cpu_use::take() {
  sample s;
  for (const pid_t pid : host::all_processes())
    if (const std::int64_t ns = pid == ::getpid() ? -1 : sharing::cpu_ns_of(pid); ns >= 0)
      s.processes[pid] = ns;
  for (const pid_t thread : host::threads_of(::getpid())) {
    const auto ran = host::own_run_times(thread);
    const auto stat = host::stat_of(::getpid(), thread);
    if (ran && stat) s.own[thread] = {ran->ran_ns, stat->os_cpu};
  }
  host::each_cpu_used(
      [&](unsigned long cpu, std::int64_t ticks) { s.ticks[static_cast<int>(cpu)] = ticks; });
  s.own_ns = sharing::cpu_ns_of(::getpid());
  s.at_ns = sharing::boot_ns();
  return s;
}

/// The kernel does not say where a thread was: half of its time counts for where it was at each
/// end. Of all of them together it says the time exactly.
std::map<int, double> cpu_use::own_parts(const sample& from, const sample& to) {
  std::map<int, double> parts;
  double sum = 0.0;
  for (const auto& [thread, now] : to.own) {
    const auto at = from.own.find(thread);
    const own_thread before = at == from.own.end() ? own_thread{0, now.cpu} : at->second;
    if (now.ran_ns <= before.ran_ns) continue;
    const auto ran = static_cast<double>(now.ran_ns - before.ran_ns);
    parts[before.cpu] += ran / 2;
    parts[now.cpu] += ran / 2;
    sum += ran;
  }
  const auto whole = static_cast<double>(to.at_ns - from.at_ns),
             own = static_cast<double>(to.own_ns - from.own_ns);
  for (auto& [cpu, part] : parts) part *= own / sum / whole;
  return parts;
}

void cpu_use::add_users(const sample& now, std::vector<cpu_in_use>& cpus) const {
  const auto whole = static_cast<double>(now.at_ns - begin_.at_ns);
  for (const auto& [pid, ns] : now.processes) {
    const auto at = begin_.processes.find(pid);
    const auto used = static_cast<double>(ns - (at == begin_.processes.end() ? 0 : at->second));
    if (used < counts * whole) continue;
    const std::vector<int> places = places_of(pid);
    const auto first = host::stat_of(pid, pid);
    for (cpu_in_use& c : cpus) {
      const auto threads = static_cast<double>(std::ranges::count(places, c.os_index));
      const double share =
          std::min(1.0, used * threads / static_cast<double>(places.size()) / whole);
      if (share >= counts)
        c.users.push_back({.pid = pid, .name = first ? first->name : "", .share = share});
    }
  }
  add_sharing_programs(cpus);
  for (cpu_in_use& c : cpus) std::ranges::sort(c.users, std::ranges::greater{}, &cpu_user::share);
}

std::vector<cpu_in_use> cpu_use::so_far() const {
  std::vector<cpu_in_use> cpus = cpus_;
  const sample now = take();
  if (now.at_ns <= begin_.at_ns) return cpus;
  const double tick_ns = 1e9 / static_cast<double>(::sysconf(_SC_CLK_TCK)),
               whole = static_cast<double>(now.at_ns - begin_.at_ns);
  const std::map<int, double> own = own_parts(begin_, now);
  for (cpu_in_use& c : cpus) {
    const auto from = begin_.ticks.find(c.os_index), to = now.ticks.find(c.os_index);
    if (from == begin_.ticks.end() || to == now.ticks.end()) continue;
    const auto ours = own.find(c.os_index);
    c.others = std::clamp(static_cast<double>(to->second - from->second) * tick_ns / whole -
                              (ours == own.end() ? 0.0 : ours->second),
                          0.0, 1.0);
  }
  add_users(now, cpus);
  return cpus;
}

}  // namespace kilter::regions::os
