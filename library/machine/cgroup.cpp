#include "machine/cgroup.hpp"

#include <algorithm>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace kilter {
inline namespace v0 {

namespace detail {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, by);) parts.push_back(part);
  return parts;
}

bool names_cpu(const std::string& list) {
  const auto names = split(list, ',');
  return std::find(names.begin(), names.end(), "cpu") != names.end();
}

/// mountinfo writes space, tab, newline and backslash as three octal digits.
std::string unescape(const std::string& text) {
  const auto octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && octal(text[i + 1]) && octal(text[i + 2]) &&
        octal(text[i + 3])) {
      out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                               (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

/// Where a hierarchy is mounted, and which of its groups the mount shows as its top.
struct hierarchy {
  bool unified = false;
  std::string top, mount_point;
};

/// "ID PARENT MAJ:MIN ROOT MOUNTPOINT OPTIONS [FIELDS...] - TYPE SOURCE SUPEROPTIONS"
std::vector<hierarchy> cpu_hierarchies(std::istream& mountinfo) {
  std::vector<hierarchy> found;
  for (std::string line; std::getline(mountinfo, line);) {
    const auto dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    const auto before = split(line.substr(0, dash), ' '), after = split(line.substr(dash + 3), ' ');
    if (before.size() < 5 || after.empty()) continue;
    const bool unified = after[0] == "cgroup2";
    const bool cpu = after[0] == "cgroup" && after.size() >= 3 && names_cpu(after[2]);
    if (unified || cpu) found.push_back({unified, unescape(before[3]), unescape(before[4])});
  }
  return found;
}

/// The process's group in the unified hierarchy or in the one with the `cpu` controller:
/// "ID:CONTROLLERS:PATH".
std::optional<std::string> group_of(std::istream& cgroup, bool unified) {
  for (std::string line; std::getline(cgroup, line);) {
    const auto first = line.find(':');
    const auto second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (unified ? controllers.empty() : names_cpu(controllers)) return line.substr(second + 1);
  }
  return std::nullopt;
}

/// The group as a path below the mount point; empty if the mount does not show it, as in a
/// container whose own group is mounted as the top.
fs::path below_mount(const std::string& group, const std::string& top) {
  fs::path relative = fs::path(group).lexically_relative(top);
  if (relative.empty() || *relative.begin() == ".." || relative == ".") return {};
  return relative;
}

std::optional<double> cores(double quota, double period) {
  if (quota > 0 && period > 0) return quota / period;
  return std::nullopt;
}

std::optional<double> limit_in(const fs::path& directory, bool unified) {
  double quota = 0, period = 0;
  if (unified) {
    std::ifstream in(directory / "cpu.max");
    if (in >> quota >> period) return cores(quota, period);
  } else {
    std::ifstream quota_in(directory / "cpu.cfs_quota_us"),
        period_in(directory / "cpu.cfs_period_us");
    if (quota_in >> quota && period_in >> period) return cores(quota, period);
  }
  return std::nullopt;
}

struct level {
  fs::path directory;
  bool unified = false;
};

/// The process's own groups, and those above them if `above`.
std::vector<level> levels(const fs::path& root, bool above) {
  std::vector<level> found;
  std::ifstream mountinfo(root / "proc/self/mountinfo");
  for (const hierarchy& h : cpu_hierarchies(mountinfo)) {
    std::ifstream cgroup(root / "proc/self/cgroup");
    const auto group = group_of(cgroup, h.unified);
    if (!group) continue;
    const fs::path mount = root / fs::path(h.mount_point).relative_path();
    fs::path below = below_mount(*group, h.top);
    for (bool more = true; more; below = below.parent_path()) {
      more = above && !below.empty();
      found.push_back({below.empty() ? mount : mount / below, h.unified});
    }
  }
  return found;
}

std::optional<double> smallest_limit(const fs::path& root, bool above) {
  std::optional<double> least;
  for (const level& l : levels(root, above))
    if (const auto limit = limit_in(l.directory, l.unified))
      least = least ? std::min(*least, *limit) : limit;
  return least;
}

}  // namespace

std::optional<double> cgroup_quota(const fs::path& root) { return smallest_limit(root, true); }

std::optional<double> own_cgroup_quota(const fs::path& root) { return smallest_limit(root, false); }

std::vector<fs::path> cgroup_directories(const fs::path& root) {
  std::vector<fs::path> directories;
  for (level& l : levels(root, true)) directories.push_back(std::move(l.directory));
  return directories;
}

std::uint32_t paid_cores(std::optional<double> quota, std::uint32_t cores) noexcept {
  return quota ? paid_cores(*quota, cores) : cores;
}

machine first_cores(const machine& m, std::uint32_t count) {
  if (count >= m.core_count()) return m;
  std::vector<core_id> first(count);
  std::iota(first.begin(), first.end(), core_id{0});
  return m.restricted_to(first);
}

machine within_quota(const machine& m, std::optional<double> quota) {
  return first_cores(m, paid_cores(quota, m.core_count()));
}

}  // namespace detail

std::optional<double> cgroup_quota_cores() { return detail::cgroup_quota("/"); }

}  // namespace v0
}  // namespace kilter
