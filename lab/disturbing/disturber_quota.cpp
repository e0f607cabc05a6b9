#include "disturbing/disturber_quota.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "kilter/error.hpp"

namespace kilter::lab {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view group_prefix = "kilter-quota-";
constexpr int most_at_once = 1000;

// Shorter periods than the system's 100 ms keep the gaps that the program sees short (8 to 16 ms).
constexpr double period_us = 20'000, most_period_us = 1'000'000, least_quota_us = 1'000;

bool write_file(const std::string& path, const std::string& text) noexcept {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool written = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  close(file);
  errno = error;
  return written;
}

bool lists(const std::string& comma_separated, std::string_view word) {
  std::istringstream items(comma_separated);
  for (std::string item; std::getline(items, item, ',');)
    if (item == word) return true;
  return false;
}

// The process's group in one hierarchy as a directory, or nothing. `controller` is empty for
// version 2.
std::optional<std::string> own_group(std::string_view controller) {
  std::optional<std::string> inside;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (controller.empty() ? controllers.empty() : lists(controllers, controller))
      inside = line.substr(second + 1);
  }
  if (!inside) return std::nullopt;

  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream left(line.substr(0, dash)), right(line.substr(dash + 3));
    std::string skipped, root, point, type, source, options;
    left >> skipped >> skipped >> skipped >> root >> point;
    right >> type >> source >> options;
    if (controller.empty() ? type != "cgroup2" : type != "cgroup" || !lists(options, controller))
      continue;
    // A mount may show only a part of the hierarchy, `root`; paths are given from the top of all of
    // it.
    std::string below = *inside;
    if (root != "/" && below.starts_with(root)) below.erase(0, root.size());
    return below == "/" || below.empty() ? point : point + below;
  }
  return std::nullopt;
}

void remove_abandoned(const std::string& parent) noexcept {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(group_prefix)) continue;
    pid_t owner = 0;
    const char* digits = name.data() + group_prefix.size();
    std::from_chars(digits, name.data() + name.size(), owner);
    if (owner > 0 && kill(owner, 0) != 0 && errno == ESRCH) rmdir(entry.path().c_str());
  }
}

}  // namespace

quota_group::quota_group() {
  const std::string name = fmt::format("{}{}", group_prefix, getpid());
  int error = ENOENT;
  const auto make = [&](const std::string& parent, const char* limit_file) {
    remove_abandoned(parent);
    std::string path = parent + "/" + name;
    for (int another = 2; mkdir(path.c_str(), 0755) != 0; ++another) {
      error = errno;
      if (error != EEXIST || another > most_at_once) return false;
      // this process has one already, for another scenario
      path = parent + "/" + name + "-" + std::to_string(another);
    }
    if (access((path + limit_file).c_str(), W_OK) == 0) {
      path_ = path;
      return true;
    }
    error = ENOTSUP;
    rmdir(path.c_str());
    return false;
  };
  if (const auto group = own_group("cpu")) {
    origin_ = *group;
    if (make(origin_, "/cpu.cfs_quota_us")) return;
  } else if (const auto unified = own_group("")) {
    version_2_ = true;
    origin_ = *unified;
    // A group of version 2 that holds processes has no groups with a cpu controller below it, so a
    // sibling is the usual place.
    if (make(origin_, "/cpu.max") || make(fs::path(origin_).parent_path(), "/cpu.max")) return;
  }
  throw input_error(
      fmt::format("disturbance quota: cannot make a CPU control group here ({}); run as root where "
                  "the cgroup cpu "
                  "controller is available, or use share, or --on sim",
                  error == ENOENT ? "no cpu controller is mounted" : std::strerror(error)));
}

quota_group::~quota_group() {
  leave();
  // The kernel lets go of the group a moment after its last thread has left.
  for (int attempt = 0; rmdir(path_.c_str()) != 0 && errno == EBUSY && attempt < 20; ++attempt)
    usleep(1000);
}

void quota_group::enter() {
  lift_limit();
  if (!write_file(path_ + "/cgroup.procs", std::to_string(getpid())))
    throw input_error(fmt::format(
        "disturbance quota: cannot move this process into a CPU control group ({}); threads with "
        "real-time priority or missing permission prevent it",
        std::strerror(errno)));
  entered_ = true;
}

bool quota_group::limit(double cores) noexcept {
  const double period = std::clamp(least_quota_us / cores, period_us, most_period_us);
  const std::string period_text = std::to_string(static_cast<long>(period));
  const std::string quota_text = std::to_string(static_cast<long>(period * cores + 0.5));
  if (version_2_) return write_file(path_ + "/cpu.max", quota_text + " " + period_text);
  return write_file(path_ + "/cpu.cfs_period_us", period_text) &&
         write_file(path_ + "/cpu.cfs_quota_us", quota_text);
}

void quota_group::lift_limit() noexcept {
  if (version_2_)
    write_file(path_ + "/cpu.max", "max");
  else
    write_file(path_ + "/cpu.cfs_quota_us", "-1");
}

void quota_group::leave() noexcept {
  if (!entered_) return;
  lift_limit();
  write_file(origin_ + "/cgroup.procs", std::to_string(getpid()));
  entered_ = false;
}

bool quota_group::release_this_thread() noexcept {
  return !version_2_ && write_file(origin_ + "/tasks", std::to_string(syscall(SYS_gettid)));
}

}  // namespace kilter::lab
