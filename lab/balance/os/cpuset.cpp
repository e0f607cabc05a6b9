#include "balance/os/cpuset.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace kilter::balance::os {

namespace {

namespace fs = std::filesystem;

/// A mounted hierarchy of control groups that can hold cpusets.
struct hierarchy {
  std::string mount, root;  ///< where it is, and which of its groups is seen there
  bool second = false;      ///< version 2
};

bool names(std::string_view list, std::string_view wanted) {
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t comma = std::min(list.find(',', at), list.size());
    if (list.substr(at, comma - at) == wanted) return true;
    at = comma + 1;
  }
  return false;
}

/// Of version 1 the one with cpusets, else version 2.
std::optional<hierarchy> find_hierarchy() {
  std::optional<hierarchy> second;
  std::ifstream in("/proc/self/mountinfo");
  for (std::string line; std::getline(in, line);) {
    // "34 31 0:31 ROOT MOUNT rw,relatime ... - cgroup SOURCE rw,cpuset"
    std::istringstream words(line);
    std::string skip, root, mount, word, kind, source, options;
    words >> skip >> skip >> skip >> root >> mount;
    while (words >> word && word != "-") {
    }
    words >> kind >> source >> options;
    if (kind == "cgroup" && names(options, "cpuset")) return hierarchy{mount, root, false};
    if (kind == "cgroup2" && !second) second = hierarchy{mount, root, true};
  }
  return second;
}

/// The group's path in the hierarchy. Lines of /proc/TID/cgroup: "3:cpuset:/path", and of version 2
/// "0::/path".
std::optional<std::string> group_of(pid_t tid, bool second) {
  std::ifstream in("/proc/" + std::to_string(tid) + "/cgroup");
  for (std::string line; std::getline(in, line);) {
    const std::size_t first = line.find(':'),
                      last = first == std::string::npos ? first : line.find(':', first + 1);
    if (last == std::string::npos) continue;
    const std::string_view controllers = std::string_view(line).substr(first + 1, last - first - 1);
    if (second ? line.starts_with("0::") : names(controllers, "cpuset"))
      return line.substr(last + 1);
  }
  return std::nullopt;
}

}  // namespace

std::optional<host::cpu_mask> cpuset_of(pid_t tid) {
  static const std::optional<hierarchy> found = find_hierarchy();
  if (!found) return std::nullopt;
  auto group = group_of(tid, found->second);
  if (!group) return std::nullopt;
  if (found->root != "/" && group->starts_with(found->root)) group->erase(0, found->root.size());
  // A group of version 2 whose parent does not hand the controller down has the parent's CPUs.
  for (fs::path path = *group;; path = path.parent_path()) {
    std::ifstream in(found->mount + path.string() +
                     (found->second ? "/cpuset.cpus.effective" : "/cpuset.effective_cpus"));
    if (std::string text; std::getline(in, text) && !text.empty()) return host::mask_from(text);
    if (!found->second || !path.has_relative_path()) return std::nullopt;
  }
}

bool follows_cpuset(pid_t tid, const host::cpu_mask& now) {
  if (&asking_for(now) != &now) return true;  // every CPU of the machine: no need to ask
  const auto allowed = cpuset_of(tid);
  return allowed && *allowed == now;
}

}  // namespace kilter::balance::os
