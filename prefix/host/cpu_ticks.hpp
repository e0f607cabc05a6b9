#pragma once
// What the kernel counts of the CPUs: /proc/stat. C library only: programs of others have it, too.

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace kilter::host {

/// The lines of /proc/stat, one after another; there may be more of them than anybody's stack has
/// room for.
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

/// Calls `visit` with each CPU's number and the ticks for which it was used since the computer
/// began, by another machine too. False: that cannot be read.
template <class Visit>
bool each_cpu_used(const Visit& visit) noexcept {
  lines_of_stat stat;
  bool any = false;
  for (const char* line; (line = stat.next()) != nullptr && strncmp(line, "cpu", 3) == 0;) {
    if (line[3] == ' ') continue;  // the sum of all
    char* at = nullptr;
    const unsigned long cpu = strtoul(line + 3, &at, 10);
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

/// Threads of the whole computer that run or could run at this moment; 0: not known.
inline std::uint32_t threads_that_run() noexcept {
  constexpr char name[] = "procs_running ";
  const int error = errno;
  lines_of_stat stat;
  std::uint32_t count = 0;
  for (const char* line; (line = stat.next()) != nullptr;)
    if (strncmp(line, name, sizeof name - 1) == 0)
      count = static_cast<std::uint32_t>(strtoul(line + sizeof name - 1, nullptr, 10));
  errno = error;
  return count;
}

}  // namespace kilter::host
