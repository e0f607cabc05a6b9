#pragma once
// What /proc says about processes and threads. Nothing here throws for a process that has gone.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kilter::host {

/// Of /proc/PID/task/TID/stat. `start` tells a thread from a later one with the same number.
struct thread_stat {
  std::string name;
  char state = '?';
  pid_t ppid = 0, session = 0;
  std::uint64_t start = 0;      ///< clock ticks since boot
  std::uint64_t cpu_ticks = 0;  ///< user and system time
  bool kernel_thread = false;
  int os_cpu = -1;  ///< where it is, or ran last
};

struct run_times {
  std::uint64_t ran_ns = 0, waited_ns = 0;
};

/// A file of /proc that is kept open: reading it fails once its thread has gone, also if the number
/// is used again. Without a descriptor left it is opened anew each time, and who uses it has to
/// compare start times.
class proc_file {
 public:
  proc_file() = default;
  explicit proc_file(std::string path);
  ~proc_file();
  proc_file(proc_file&& other) noexcept
      : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}
  proc_file& operator=(proc_file&& other) noexcept;

  /// The first bytes, at most `room`; 0 if the thread has gone. `into` gets a terminating zero.
  [[nodiscard]] std::size_t read(char* into, std::size_t room) const noexcept;
  [[nodiscard]] bool kept_open() const noexcept { return fd_ >= 0; }

 private:
  std::string path_;
  int fd_ = -1;
};

[[nodiscard]] std::optional<thread_stat> parse_stat(const char* text);
[[nodiscard]] std::optional<run_times> parse_schedstat(const char* text);
[[nodiscard]] std::string stat_path(pid_t pid, pid_t tid);
[[nodiscard]] std::optional<thread_stat> stat_of(pid_t pid, pid_t tid);
[[nodiscard]] std::optional<thread_stat> stat_of(const proc_file&);
/// Of a thread of this process.
[[nodiscard]] std::optional<run_times> own_run_times(pid_t tid);

/// Numbers that name entries of a directory, the first `most` that the system names; empty if it
/// cannot be read.
[[nodiscard]] std::vector<pid_t> numbers_in(const std::string& directory,
                                            std::size_t most = std::string::npos);
[[nodiscard]] inline std::vector<pid_t> threads_of(pid_t pid) {
  return numbers_in("/proc/" + std::to_string(pid) + "/task");
}
[[nodiscard]] inline std::vector<pid_t> all_processes() { return numbers_in("/proc"); }
/// The process that a thread belongs to; 0 if there is none.
[[nodiscard]] pid_t process_of(pid_t tid);
/// Real and effective user of a process.
[[nodiscard]] std::optional<std::pair<uid_t, uid_t>> users_of(pid_t pid);
/// The number that the kernel gave out last in this namespace: if it has not changed, nothing was
/// created.
[[nodiscard]] std::uint64_t last_number();
/// This boot, this namespace of process numbers.
[[nodiscard]] std::string boot_id();
[[nodiscard]] std::uint64_t pid_namespace();

}  // namespace kilter::host
