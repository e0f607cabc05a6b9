#include "runtime/pinning.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/sync.hpp"

namespace kilter::inline v0::detail {
namespace {

// A CPU set of any size: fixed cpu_set_t ends at 1024.
class cpu_mask {
 public:
  cpu_mask() : set_(CPU_ALLOC(size)), bytes_(CPU_ALLOC_SIZE(size)) { CPU_ZERO_S(bytes_, set_); }
  ~cpu_mask() { CPU_FREE(set_); }
  cpu_mask(const cpu_mask&) = delete;
  cpu_mask& operator=(const cpu_mask&) = delete;
  bool load_own() noexcept { return sched_getaffinity(0, bytes_, set_) == 0; }
  bool apply_to(pid_t thread) const noexcept {
    return thread > 0 && sched_setaffinity(thread, bytes_, set_) == 0;
  }
  void add(int cpu) noexcept { CPU_SET_S(static_cast<std::size_t>(cpu), bytes_, set_); }
  [[nodiscard]] bool has(int cpu) const noexcept {
    return cpu >= 0 && cpu < size && CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes_, set_);
  }
  [[nodiscard]] int count() const noexcept { return CPU_COUNT_S(bytes_, set_); }

 private:
  static constexpr int size = 8192;
  cpu_set_t* set_;
  std::size_t bytes_;
};

}  // namespace

bool can_pin_to(const machine& m) {
  cpu_mask allowed;
  if (!allowed.load_own()) return false;
  std::set<int> seen;
  for (const core& c : m.cores())
    if (!allowed.has(c.os_index) || !seen.insert(c.os_index).second) return false;
  return true;
}

bool pin_to_any(const machine& m, std::span<const core_id> cores, pid_t t) noexcept {
  cpu_mask all;
  for (const core_id c : cores) all.add(m.cores()[c].os_index);
  return all.apply_to(t);
}
bool pin_to(const machine& m, core_id c, pid_t t) noexcept { return pin_to_any(m, {&c, 1}, t); }
bool pin_to(const machine& m, core_id c) noexcept { return pin_to(m, c, thread_number()); }

// What pthread_getcpuclockid gives, for a thread that may be gone by now (Linux: the number's
// complement, and which clock).
std::int64_t cpu_nanoseconds_of(pid_t t) noexcept {
  constexpr unsigned of_a_thread = 4, time_on_cpus = 2;
  const auto clock =
      static_cast<clockid_t>((~static_cast<unsigned>(t) << 3) | of_a_thread | time_on_cpus);
  timespec now{};
  if (t <= 0 || clock_gettime(clock, &now) != 0) return -1;
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

pid_t thread_number() noexcept { return static_cast<pid_t>(syscall(SYS_gettid)); }

bool wants_cpu(pid_t thread) noexcept {
  char path[64], text[512];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/stat", static_cast<int>(thread));
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t got = read(file, text, sizeof text);
  close(file);
  const std::string_view told(text, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  const std::size_t name_ends = told.rfind(')');  // the name may have any bytes
  return name_ends != told.npos && told.substr(name_ends).starts_with(") R");
}

core_id landing_core(const machine& m) {
  int cpu = -1;
  try {
    sync::thread([&] { cpu = sched_getcpu(); }).join();
  } catch (const std::system_error&) {
    return no_core;  // no thread, no answer; a runtime that gets no workers says so itself
  }
  for (const core& c : m.cores())
    if (c.os_index == cpu) return c.id;
  return no_core;
}

std::uint32_t allowed_cpus() noexcept {
  cpu_mask allowed;
  return allowed.load_own() ? static_cast<std::uint32_t>(allowed.count()) : 1;
}

}  // namespace kilter::inline v0::detail
