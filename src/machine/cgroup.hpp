#pragma once
// The CPU quota that control groups leave to a process, read from files as Linux lays them out.

#include <filesystem>
#include <optional>

namespace kilter::detail {

/// The smallest quota / period, in cores, over all levels of the process's `cpu` control groups, both versions. `root` is
/// the directory that holds `proc/self/cgroup`, `proc/self/mountinfo` and the mount points named there: "/" on a live
/// system. nullopt if nothing limits, or nothing can be read. Never throws for what the files contain.
[[nodiscard]] std::optional<double> cgroup_quota(const std::filesystem::path& root);

}  // namespace kilter::detail
