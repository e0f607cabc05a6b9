#include "regions/os/running.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>

#include "balance/os/proc.hpp"
#include "regions/shown_text.hpp"

namespace kilter::regions::os {

namespace {

namespace fs = std::filesystem;

/// Path of the memory in which the process shows its regions; empty if it shows none.
std::string shown_by(pid_t pid) {
  const std::string wanted = fmt::format("/memfd:{} (deleted)", shown_name), folder = fmt::format("/proc/{}/fd", pid);
  std::error_code gone;
  for (const pid_t file : balance::os::numbers_in(folder)) {
    std::string path = fmt::format("{}/{}", folder, file);
    if (fs::read_symlink(path, gone) == wanted) return path;
  }
  return {};
}

/// Empty if it is no such memory, or never still.
std::string text_in(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  struct stat s {};
  const bool whole = ::fstat(file, &s) == 0 && s.st_size == static_cast<off_t>(sizeof(shown_text));
  void* const at = whole ? ::mmap(nullptr, sizeof(shown_text), PROT_READ, MAP_SHARED, file, 0) : MAP_FAILED;
  ::close(file);
  if (at == MAP_FAILED) return {};
  const auto& shown = *static_cast<const shown_text*>(at);
  std::string text;
  constexpr int most_tries = 1000;
  for (int tries = 0; tries < most_tries; ++tries) {
    const std::uint32_t version = shown.version.load(std::memory_order_acquire);
    if (version % 2 != 0) {
      ::usleep(100);
      continue;
    }
    text.assign(shown.text, std::min(shown.length, shown_text::room));
    std::atomic_thread_fence(std::memory_order_acquire);
    if (shown.version.load(std::memory_order_relaxed) == version) break;
    text.clear();
  }
  ::munmap(at, sizeof(shown_text));
  return text;
}

}  // namespace

std::vector<running_process> running_processes() {
  std::vector<running_process> all;
  for (const pid_t pid : balance::os::all_processes()) {
    const std::string path = shown_by(pid);
    if (path.empty()) continue;
    std::error_code gone;
    const std::string program = fs::read_symlink(fmt::format("/proc/{}/exe", pid), gone);
    for (told_process& told : parse_told(text_in(path)))
      if (told.pid == pid) all.push_back({program, std::move(told)});   // else a fork's child, which has its parent's
  }
  std::ranges::sort(all, {}, [](const running_process& p) { return p.told.pid; });
  return all;
}

}  // namespace kilter::regions::os
