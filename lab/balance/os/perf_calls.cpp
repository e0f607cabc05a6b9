#include "balance/os/perf_calls.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace kilter::balance::os {

std::vector<cpu_pmu> linux_perf_calls::pmus() const {
  std::vector<cpu_pmu> found;
  std::error_code ignored;
  for (const auto& entry :
       std::filesystem::directory_iterator("/sys/bus/event_source/devices", ignored)) {
    const std::string name = entry.path().filename().string();
    // A file "cpus" marks those of a kind of core: cpu_core, cpu_atom, armv8_cortex_a53. The common
    // one is called cpu.
    const bool of_cores =
        name == "cpu" || ((name.starts_with("cpu_") || name.starts_with("arm")) &&
                          std::filesystem::exists(entry.path() / "cpus", ignored));
    std::ifstream in(entry.path() / "type");
    cpu_pmu p{name, 0};
    if (of_cores && in >> p.type) found.push_back(p);
  }
  std::sort(found.begin(), found.end(),
            [](const cpu_pmu& a, const cpu_pmu& b) { return a.name < b.name; });
  return found;
}

int linux_perf_calls::open(const perf_event_attr& attr, pid_t tid, int group) {
  const long fd = ::syscall(SYS_perf_event_open, &attr, tid, -1, group, PERF_FLAG_FD_CLOEXEC);
  return fd >= 0 ? static_cast<int>(fd) : -errno;
}

bool linux_perf_calls::read(int fd, std::span<std::uint64_t> into) {
  return ::read(fd, into.data(), into.size_bytes()) == static_cast<ssize_t>(into.size_bytes());
}

void linux_perf_calls::close(int fd) noexcept { ::close(fd); }

std::unique_ptr<perf_calls> kernel_counters() { return std::make_unique<linux_perf_calls>(); }

std::string perf_refusal(int error) {
  if (error == EACCES || error == EPERM) {
    std::ifstream in("/proc/sys/kernel/perf_event_paranoid");
    int level = 0;
    if (in >> level && level > 2)
      return fmt::format(
          "perf events are not permitted (kernel.perf_event_paranoid is {}); set it to 2 or less, "
          "or give CAP_PERFMON",
          level);
    return "perf events are not permitted: the thread is another user's, or a security profile, as "
           "of a container, forbids them; CAP_PERFMON would do";
  }
  if (error == ENOSYS)
    return "perf_event_open is not there: the kernel lacks it, or a security profile forbids it";
  if (error == EMFILE) return "too few file descriptors; raise the limit (ulimit -n)";
  return std::strerror(error);
}

}  // namespace kilter::balance::os
