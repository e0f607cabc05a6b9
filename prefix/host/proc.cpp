#include "host/proc.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace kilter::host {

namespace {

std::size_t read_from(int fd, char* into, std::size_t room) noexcept {
  const ssize_t n = ::pread(fd, into, room - 1, 0);
  const std::size_t got = n > 0 ? static_cast<std::size_t>(n) : 0;
  into[got] = 0;
  return got;
}

std::string first_line(const char* path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

}  // namespace

proc_file::proc_file(std::string path)
    : path_(std::move(path)), fd_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {}

proc_file::~proc_file() {
  if (fd_ >= 0) ::close(fd_);
}

proc_file& proc_file::operator=(proc_file&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  return *this;
}

std::size_t proc_file::read(char* into, std::size_t room) const noexcept {
  if (fd_ >= 0) return read_from(fd_, into, room);
  const int fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return into[0] = 0;
  const std::size_t got = read_from(fd, into, room);
  ::close(fd);
  return got;
}

std::optional<thread_stat> parse_stat(const char* text) {
  // "TID (NAME) STATE PPID ..."; the name may hold anything, also brackets.
  const char* const open = std::strchr(text, '(');
  const char* const close = std::strrchr(text, ')');
  if (!open || !close || close < open || close[1] != ' ') return std::nullopt;
  thread_stat s;
  s.name.assign(open + 1, close);
  const char* at = close + 2;
  s.state = *at++;
  std::uint64_t utime = 0;
  for (int field = 4; field <= 39; ++field) {
    char* after = nullptr;
    // negative numbers wrap and are not used
    const unsigned long long value = std::strtoull(at, &after, 10);
    if (after == at) return std::nullopt;
    at = after;
    switch (field) {
      case 4: s.ppid = static_cast<pid_t>(value); break;
      case 6: s.session = static_cast<pid_t>(value); break;
      case 9: s.kernel_thread = (value & 0x00200000) != 0; break;  // PF_KTHREAD
      case 14: utime = value; break;
      case 15: s.cpu_ticks = utime + value; break;
      case 22: s.start = value; break;
      case 39: s.os_cpu = static_cast<int>(value); break;
      default: break;
    }
  }
  return s;
}

std::optional<run_times> parse_schedstat(const char* text) {
  char* after = nullptr;
  run_times t;
  t.ran_ns = std::strtoull(text, &after, 10);
  if (after == text) return std::nullopt;
  t.waited_ns = std::strtoull(after, nullptr, 10);
  return t;
}

std::string stat_path(pid_t pid, pid_t tid) {
  return "/proc/" + std::to_string(pid) + "/task/" + std::to_string(tid) + "/stat";
}

std::optional<thread_stat> stat_of(const proc_file& file) {
  char text[1024];
  if (file.read(text, sizeof text) == 0) return std::nullopt;
  return parse_stat(text);
}

std::optional<thread_stat> stat_of(pid_t pid, pid_t tid) {
  return stat_of(proc_file(stat_path(pid, tid)));
}

std::optional<run_times> own_run_times(pid_t tid) {
  char text[256];
  const proc_file file("/proc/self/task/" + std::to_string(tid) + "/schedstat");
  return file.read(text, sizeof text) ? parse_schedstat(text) : std::nullopt;
}

std::vector<pid_t> numbers_in(const std::string& directory, std::size_t most) {
  std::vector<pid_t> found;
  DIR* const d = ::opendir(directory.c_str());
  if (!d) return found;
  for (const dirent* entry; found.size() < most && (entry = ::readdir(d));) {
    pid_t n = 0;
    const char* const end = entry->d_name + std::strlen(entry->d_name);
    if (std::from_chars(entry->d_name, end, n).ptr == end && n > 0) found.push_back(n);
  }
  ::closedir(d);
  return found;
}

pid_t process_of(pid_t tid) {
  std::ifstream in("/proc/" + std::to_string(tid) + "/status");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("Tgid:")) return std::atoi(line.c_str() + 5);
  return 0;
}

std::optional<std::pair<uid_t, uid_t>> users_of(pid_t pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(in, line);) {
    unsigned real = 0, effective = 0;
    if (std::sscanf(line.c_str(), "Uid: %u %u", &real, &effective) == 2)
      return std::pair{real, effective};
  }
  return std::nullopt;
}

std::uint64_t last_number() {
  // "0.00 0.01 0.05 1/80 11206"
  static const proc_file loadavg("/proc/loadavg");
  char text[128];
  if (loadavg.read(text, sizeof text) == 0) return 0;
  const char* const space = std::strrchr(text, ' ');
  return space ? std::strtoull(space, nullptr, 10) : 0;
}

std::string boot_id() { return first_line("/proc/sys/kernel/random/boot_id"); }

std::uint64_t pid_namespace() {
  struct stat s {};
  return ::stat("/proc/self/ns/pid", &s) == 0 ? s.st_ino : 0;
}

}  // namespace kilter::host
