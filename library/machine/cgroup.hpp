#pragma once
// The CPU quota that control groups leave to a process, read from files as Linux lays them out.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "kilter/machine.hpp"
#include "machine/paid_cores.hpp"

namespace kilter::inline v0::detail {

/// The smallest quota / period, in cores, over all levels of the process's `cpu` control groups,
/// both versions. `root` is the directory that holds `proc/self/cgroup`, `proc/self/mountinfo` and
/// the mount points named there: "/" on a live system. nullopt if nothing limits, or nothing can be
/// read. Never throws for what the files contain.
[[nodiscard]] std::optional<double> cgroup_quota(const std::filesystem::path& root);

/// The same of the process's own group alone, which is all that some programs look at.
[[nodiscard]] std::optional<double> own_cgroup_quota(const std::filesystem::path& root);

/// The directories whose files say so, each `cpu.max` or `cpu.cfs_quota_us` and
/// `cpu.cfs_period_us`; some may have none.
[[nodiscard]] std::vector<std::filesystem::path> cgroup_directories(
    const std::filesystem::path& root);

/// Without a quota all.
[[nodiscard]] std::uint32_t paid_cores(std::optional<double> quota, std::uint32_t cores) noexcept;
/// The first `count` cores of a machine, or all if it has no more.
[[nodiscard]] machine first_cores(const machine&, std::uint32_t count);
/// Those of its first cores that a quota pays for.
[[nodiscard]] machine within_quota(const machine&, std::optional<double> quota);

}  // namespace kilter::inline v0::detail
