#pragma once
// For how long each CPU was used by anybody, as the kernel counts it.

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace kilter::regions {

/// Calls `visit` with each CPU's number and the ticks for which it was used since the computer began, by another machine too. False: that cannot be read. `text`: room for it.
template <std::size_t room, class Visit>
bool each_cpu_used(char (&text)[room], const Visit& visit) noexcept {
  const int file = open("/proc/stat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  std::size_t size = 0;
  for (ssize_t n; size < room - 1 && (n = read(file, text + size, room - 1 - size)) > 0;) size += static_cast<std::size_t>(n);
  close(file);
  text[size] = '\0';
  bool any = false;
  for (const char* line = text; (line = strstr(line, "\ncpu")) != nullptr;) {
    line += 4;
    char* at = nullptr;
    const unsigned long cpu = strtoul(line, &at, 10);
    if (at == line) continue;
    enum { user, nice, system, idle, iowait, irq, softirq, steal, fields };
    std::int64_t ticks = 0;
    for (int field = user; field < fields; ++field) {
      const long long value = strtoll(at, &at, 10);
      if (field != idle && field != iowait) ticks += value;
    }
    visit(cpu, ticks);
    any = true;
  }
  return any;
}

}  // namespace kilter::regions
