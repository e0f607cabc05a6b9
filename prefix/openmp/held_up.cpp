#include "openmp/held_up.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "openmp/clock.hpp"

namespace kilter::regions {

namespace {

constexpr std::int64_t look_ns = 8'000;

/// CPU time of a thread of this process; negative if there is no such thread.
std::int64_t cpu_ns(pid_t thread) noexcept {
  // as pthread_getcpuclockid makes them: of one thread, what the scheduler counts
  const auto clock = static_cast<clockid_t>((~static_cast<unsigned>(thread) << 3) | 6u);
  timespec t{};
  if (clock_gettime(clock, &t) != 0) return -1;
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

/// Not asleep: it runs, or waits for a CPU.
bool wants_to_run(pid_t thread) noexcept {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", static_cast<int>(thread));
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t size = read(file, text, sizeof text - 1);
  close(file);
  if (size <= 0) return false;
  text[size] = '\0';
  const char* const after_name = strrchr(text, ')');
  return after_name && after_name[1] == ' ' && after_name[2] == 'R';
}

}  // namespace

bool held_up(pid_t thread, const awaited& what) noexcept {
  const int error = errno;
  const std::int64_t before = cpu_ns(thread), begin = now_ns();
  while (now_ns() - begin < look_ns && !what.came()) pause();
  const bool stands = !what.came() && before >= 0 && cpu_ns(thread) - before < look_ns / 4;
  const bool held = stands && wants_to_run(thread);
  errno = error;
  return held;
}

}  // namespace kilter::regions
