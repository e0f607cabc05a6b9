#include "openmp/others.hpp"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "host/cpu_ticks.hpp"
#include "openmp/clock.hpp"

namespace kilter::regions {

namespace {

/// Ticks for which the CPUs of the mask were used; -1: cannot be read.
std::int64_t used_ticks(const cpu_set_t& mask) noexcept {
  std::int64_t sum = 0;
  bool any = false;
  host::each_cpu_used([&](unsigned long cpu, std::int64_t ticks) {
    if (cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &mask)) return;
    sum += ticks;
    any = true;
  });
  return any ? sum : -1;
}

}  // namespace

others_use::others_use() noexcept
    : tick_ns_(1e9 / static_cast<double>(sysconf(_SC_CLK_TCK))),
      own_ns_(own_ns()),
      at_ns_(now_ns()) {
  if (sched_getaffinity(getpid(), sizeof mask_, &mask_) != 0) CPU_ZERO(&mask_);
}

std::int64_t others_use::own_ns() noexcept {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

double others_use::since_before() noexcept {
  const int error = errno;
  const std::int64_t now = now_ns(), own = own_ns(), before = ticks_;
  ticks_ = used_ticks(mask_);
  const auto ours = static_cast<double>(own - own_ns_), whole = static_cast<double>(now - at_ns_);
  own_ns_ = own;
  at_ns_ = now;
  errno = error;
  if (before < 0 || ticks_ < 0 || whole <= 0.0) return -1.0;
  return std::max(0.0, (static_cast<double>(ticks_ - before) * tick_ns_ - ours) / whole);
}

double others_use::since_before_if_worked() noexcept {
  constexpr double idle_part = 0.02;
  const std::int64_t now = now_ns(), own = own_ns();
  if (static_cast<double>(own - own_ns_) >= idle_part * static_cast<double>(now - at_ns_))
    return since_before();
  own_ns_ = own;
  at_ns_ = now;
  ticks_ = -1;
  return -1.0;
}

double own_wait::since_before() noexcept {
  const int error = errno;
  std::int64_t sum_ns = 0;
  if (DIR* const threads = opendir("/proc/self/task")) {
    while (const dirent* const thread = readdir(threads)) {
      char path[64], text[64];
      snprintf(path, sizeof path, "/proc/self/task/%.20s/schedstat", thread->d_name);
      const int file = open(path, O_RDONLY | O_CLOEXEC);
      if (file < 0) continue;
      const ssize_t size = read(file, text, sizeof text - 1);
      close(file);
      text[size > 0 ? size : 0] = '\0';
      const char* const after_run = strchr(text, ' ');
      if (after_run) sum_ns += strtoll(after_run, nullptr, 10);
    }
    closedir(threads);
  }
  const std::int64_t now = now_ns(), waited_ns = sum_ns - waited_ns_, took_ns = now - at_ns_;
  // it becomes less where a thread has ended
  const bool known = waited_ns_ >= 0 && waited_ns >= 0 && took_ns > 0;
  waited_ns_ = sum_ns;
  at_ns_ = now;
  errno = error;
  return known ? static_cast<double>(waited_ns) / static_cast<double>(took_ns) : 0.0;
}

}  // namespace kilter::regions
