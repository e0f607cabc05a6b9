#include "regions/openmp/others.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "regions/openmp/clock.hpp"

namespace kilter::regions {

namespace {

/// The lines of /proc/stat, one after another; there may be more of them than anybody's stack has room for.
class lines_of_stat {
 public:
  lines_of_stat() noexcept : file_(open("/proc/stat", O_RDONLY | O_CLOEXEC)) {}
  ~lines_of_stat() {
    if (file_ >= 0) close(file_);
  }
  lines_of_stat(const lines_of_stat&) = delete;
  lines_of_stat& operator=(const lines_of_stat&) = delete;

  /// Null: there are no more. A line that is longer than the room for it comes in pieces.
  const char* next() noexcept {
    for (;;) {
      if (char* const end = static_cast<char*>(memchr(text_ + at_, '\n', size_ - at_))) {
        *end = '\0';
        const char* const line = text_ + at_;
        at_ = static_cast<std::size_t>(end - text_) + 1;
        return line;
      }
      if (at_ == 0 && size_ == sizeof text_ - 1) {
        text_[size_] = '\0';
        at_ = size_;
        return text_;
      }
      memmove(text_, text_ + at_, size_ - at_);
      size_ -= at_;
      at_ = 0;
      const ssize_t n = file_ < 0 ? 0 : read(file_, text_ + size_, sizeof text_ - 1 - size_);
      if (n <= 0) return nullptr;
      size_ += static_cast<std::size_t>(n);
    }
  }

 private:
  int file_;
  std::size_t at_ = 0, size_ = 0;
  char text_[4096];
};

/// Ticks for which the CPUs of the mask were used by anybody; -1: cannot be read.
std::int64_t used_ticks(const cpu_set_t& mask) noexcept {
  lines_of_stat stat;
  std::int64_t ticks = 0;
  bool any = false;
  for (const char* line; (line = stat.next()) != nullptr && strncmp(line, "cpu", 3) == 0;) {
    char* at = nullptr;
    const unsigned long cpu = strtoul(line + 3, &at, 10);
    if (line[3] == ' ' || cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &mask)) continue;
    enum { user, nice, system, idle, iowait, irq, softirq, steal, fields };
    for (int field = user; field < fields; ++field) {
      const long long value = strtoll(at, &at, 10);
      if (field != idle && field != iowait) ticks += value;
    }
    any = true;
  }
  return any ? ticks : -1;
}

}  // namespace

others_use::others_use() noexcept : tick_ns_(1e9 / static_cast<double>(sysconf(_SC_CLK_TCK))), own_ns_(own_ns()), at_ns_(now_ns()) {
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
  if (static_cast<double>(own - own_ns_) >= idle_part * static_cast<double>(now - at_ns_)) return since_before();
  own_ns_ = own;
  at_ns_ = now;
  ticks_ = -1;
  return -1.0;
}

std::uint32_t threads_that_run() noexcept {
  constexpr char name[] = "procs_running ";
  const int error = errno;
  lines_of_stat stat;
  std::uint32_t count = 0;
  for (const char* line; (line = stat.next()) != nullptr;)
    if (strncmp(line, name, sizeof name - 1) == 0) count = static_cast<std::uint32_t>(strtoul(line + sizeof name - 1, nullptr, 10));
  errno = error;
  return count;
}

}  // namespace kilter::regions
