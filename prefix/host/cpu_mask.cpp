#include "host/cpu_mask.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <charconv>
#include <fstream>

namespace kilter::host {

cpu_mask cpu_mask::of(int cpu) noexcept {
  cpu_mask m;
  if (cpu >= 0 && cpu < capacity)
    m.words[static_cast<std::size_t>(cpu) / 64] = std::uint64_t{1} << (cpu % 64);
  return m;
}

cpu_mask cpu_mask::all() noexcept {
  cpu_mask m;
  m.words.fill(~std::uint64_t{0});
  return m;
}

bool cpu_mask::has(int cpu) const noexcept {
  return cpu >= 0 && cpu < capacity &&
         (words[static_cast<std::size_t>(cpu) / 64] >> (cpu % 64) & 1) != 0;
}

int cpu_mask::count() const noexcept {
  int n = 0;
  for (const std::uint64_t w : words) n += std::popcount(w);
  return n;
}

int cpu_mask::single() const noexcept {
  int found = -1;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == 0) continue;
    if (found >= 0 || !std::has_single_bit(words[i])) return -1;
    found = static_cast<int>(i * 64) + std::countr_zero(words[i]);
  }
  return found;
}

cpu_mask either(const cpu_mask& a, const cpu_mask& b) noexcept {
  cpu_mask m;
  for (std::size_t i = 0; i < m.words.size(); ++i) m.words[i] = a.words[i] | b.words[i];
  return m;
}

cpu_mask both(const cpu_mask& a, const cpu_mask& b) noexcept {
  cpu_mask m;
  for (std::size_t i = 0; i < m.words.size(); ++i) m.words[i] = a.words[i] & b.words[i];
  return m;
}

std::string to_text(const cpu_mask& m) {
  if (m == cpu_mask::all()) return "all";
  std::string text;
  for (int cpu = 0; cpu < cpu_mask::capacity; ++cpu) {
    if (!m.has(cpu)) continue;
    int last = cpu;
    while (m.has(last + 1)) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(cpu);
    if (last > cpu) text += '-' + std::to_string(last);
    cpu = last;
  }
  return text;
}

cpu_mask mask_from(const std::string& text) noexcept {
  cpu_mask m;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    int first = 0, last = 0;
    const auto [after, error] = std::from_chars(at, end, first);
    if (error != std::errc{}) {
      ++at;
      continue;
    }
    at = after;
    last = first;
    if (at < end && *at == '-') at = std::from_chars(at + 1, end, last).ptr;
    for (int cpu = first; cpu <= last && cpu < cpu_mask::capacity; ++cpu)
      m.words[static_cast<std::size_t>(cpu) / 64] |= std::uint64_t{1} << (cpu % 64);
  }
  return m;
}

std::optional<cpu_mask> affinity_of(pid_t tid) noexcept {
  cpu_mask m;
  if (::syscall(SYS_sched_getaffinity, tid, sizeof m.words, m.words.data()) < 0)
    return std::nullopt;
  return m;
}

int set_affinity(pid_t tid, const cpu_mask& m) noexcept {
  return ::syscall(SYS_sched_setaffinity, tid, sizeof m.words, m.words.data()) == 0 ? 0 : errno;
}

const cpu_mask& online_cpus() {
  static const cpu_mask online = [] {
    std::ifstream in("/sys/devices/system/cpu/online");
    std::string text;
    std::getline(in, text);
    return mask_from(text);
  }();
  return online;
}

const cpu_mask& asking_for(const cpu_mask& original) noexcept {
  static const cpu_mask everything = cpu_mask::all();
  return original == online_cpus() ? everything : original;
}

}  // namespace kilter::host
