#include "sharing/process.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace kilter::sharing {

namespace {

std::int64_t ns_of(clockid_t clock) noexcept {
  timespec t{};
  if (clock_gettime(clock, &t) != 0) return -1;
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

/// What /proc says of the process: its number there and when it began. By system calls of their
/// own, so that no thread is cancelled in them.
bool stat_of(const char* path, long& pid, std::uint64_t& start_ticks) noexcept {
  char text[1024];
  const long file = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NOCTTY, 0);
  if (file < 0) return false;
  const long size = syscall(SYS_read, file, text, sizeof text - 1);
  syscall(SYS_close, file);
  if (size <= 0) return false;
  text[size] = '\0';
  const char* at = strrchr(text, ')');  // its name may hold anything
  constexpr int fields_before_start = 20;
  for (int n = 0; at && n < fields_before_start; ++n) at = strchr(at + 1, ' ');
  if (!at) return false;
  pid = strtol(text, nullptr, 10);
  start_ticks = strtoull(at + 1, nullptr, 10);
  return true;
}

}  // namespace

process_identity this_process() noexcept {
  process_identity me;
  me.pid = getpid();
  struct stat names {};
  long pid = 0;
  std::uint64_t start_ticks = 0;
  // A /proc of other processes' numbers than ours knows us by another one.
  if (!stat_of("/proc/self/stat", pid, start_ticks) || pid != me.pid ||
      stat("/proc/self/ns/pid", &names) != 0)
    return me;
  me.pid_namespace = names.st_ino;
  me.start_ticks = start_ticks;
  return me;
}

std::uint64_t start_ticks_of(pid_t pid) noexcept {
  char path[64];
  long number = 0;
  std::uint64_t start_ticks = 0;
  snprintf(path, sizeof path, "/proc/%d/stat", static_cast<int>(pid));
  return stat_of(path, number, start_ticks) && number == pid ? start_ticks : 0;
}

std::int64_t cpu_ns_of(pid_t pid) noexcept {
  // as clock_getcpuclockid makes them
  return ns_of(static_cast<clockid_t>((~static_cast<unsigned>(pid) << 3) | 2u));
}

std::int64_t boot_ns() noexcept { return ns_of(CLOCK_BOOTTIME); }

}  // namespace kilter::sharing
