#include "regions/os/running.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

#include "host/proc.hpp"
#include "regions/live_account.hpp"

namespace kilter::regions::os {

namespace {

namespace fs = std::filesystem;

/// A descriptor that is closed in the end; none if it is below 0.
class opened {
 public:
  explicit opened(int fd) : fd_(fd) {}
  ~opened() {
    if (fd_ >= 0) ::close(fd_);
  }
  opened(const opened&) = delete;
  opened& operator=(const opened&) = delete;
  [[nodiscard]] int fd() const noexcept { return fd_; }

 private:
  int fd_;
};

/// Without asking who serves the file system, which may be anybody.
bool look_at(int fd, struct statx& s) {
  return ::statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_SIZE, &s) == 0;
}

/// Whether it is memory and no file, pipe or device of that name. All such memory is on one device
/// of the kernel's own.
bool is_live_account(int fd) {
  const opened memory(::memfd_create("kilter-looks", MFD_CLOEXEC));
  struct statx ours {
  }, s{};
  return memory.fd() >= 0 && look_at(memory.fd(), ours) && look_at(fd, s) && S_ISREG(s.stx_mode) &&
         s.stx_size == sizeof(live_account) && s.stx_dev_major == ours.stx_dev_major &&
         s.stx_dev_minor == ours.stx_dev_minor;
}

/// Path of the memory in which the process shows its regions; empty if it shows none. That lies
/// where a program has few files (live_account.cpp).
std::string live_account_of(pid_t pid) {
  constexpr std::size_t most_files = 4096;
  const std::string wanted = fmt::format("/memfd:{} (deleted)", live_account_name),
                    folder = fmt::format("/proc/{}/fd", pid);
  std::error_code gone;
  for (const pid_t file : host::numbers_in(folder, most_files)) {
    std::string path = fmt::format("{}/{}", folder, file);
    if (fs::read_symlink(path, gone) == wanted) return path;
  }
  return {};
}

/// Reads what others show. All of them together are waited for a hundredth of a second at most: any
/// may keep its memory in disorder.
class reader {
 public:
  /// Empty if it is no such memory, or never still. It is read and not mapped: who shows it may
  /// take it away meanwhile.
  std::string text_in(const std::string& path) {
    const opened named(::open(path.c_str(), O_PATH | O_CLOEXEC));
    if (named.fd() < 0 || !is_live_account(named.fd())) return {};
    const opened file(::open(fmt::format("/proc/self/fd/{}", named.fd()).c_str(),
                             O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    constexpr int most_tries = 5;
    for (int tries = 0; tries < most_tries; ++tries) {
      head before{}, after{};
      if (!get(file.fd(), &before, sizeof before, 0)) return {};
      if (before.version % 2 != 0) {
        if (waits_left_ == 0) return {};
        --waits_left_;
        ::usleep(200);
        continue;
      }
      std::string text(std::min<std::size_t>(before.length, live_account::room), '\0');
      if (!get(file.fd(), text.data(), text.size(), offsetof(live_account, text)) ||
          !get(file.fd(), &after, sizeof after, 0))
        return {};
      if (after.version == before.version) return text;
    }
    return {};
  }

 private:
  struct head {
    std::uint32_t version, length;
  };
  static_assert(offsetof(live_account, length) == offsetof(head, length));

  static bool get(int file, void* to, std::size_t size, std::size_t from) {
    return ::pread(file, to, size, static_cast<off_t>(from)) == static_cast<ssize_t>(size);
  }

  int waits_left_ = 50;
};

}  // namespace

std::vector<running_process> running_processes() {
  std::vector<running_process> all;
  reader shown;
  for (const pid_t pid : host::all_processes()) {
    const std::string path = live_account_of(pid);
    if (path.empty()) continue;
    std::vector<process_account> told = read_account(shown.text_in(path));
    // a fork's child has its parent's
    const auto its_own = std::ranges::find(told, pid, &process_account::pid);
    if (its_own == told.end()) continue;
    std::error_code gone;
    const auto users = host::users_of(pid);
    all.push_back({fs::read_symlink(fmt::format("/proc/{}/exe", pid), gone), std::move(*its_own),
                   users && users->first == ::geteuid() && users->second == ::geteuid()});
  }
  std::ranges::sort(all, {}, [](const running_process& p) { return p.told.pid; });
  return all;
}

}  // namespace kilter::regions::os
