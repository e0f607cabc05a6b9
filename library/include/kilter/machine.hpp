#pragma once
// The machine as a scheduler sees it: cores, kinds, clusters and places. A value: built once, then
// only read.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kilter/ids.hpp"

namespace kilter {
inline namespace v0 {

struct core_kind {
  kind_id id = 0;
  std::string name;         ///< "P-core", "denver", "core" if the source names none
  std::uint32_t cores = 0;  ///< allowed cores of this kind
  /// nominal speed against the slowest kind as the source states it; 0 if it states none
  double relative_speed = 0.0;
};

struct core {
  core_id id = 0;
  int os_index = 0;  ///< the operating system's number of this logical CPU
  cluster_id cluster = 0;
  kind_id kind = 0;
  int numa_node = 0;
};

struct cluster {
  cluster_id id = 0;
  kind_id kind = 0;
  core_id first = 0;  ///< its cores are first .. first + size - 1
  std::uint32_t size = 0;
  /// allowed widths, ascending: the divisors of `size` (papers.md S2, section 3)
  std::vector<std::uint32_t> widths;
};

/// Which logical CPUs become cores.
struct machine_options {
  /// false: one core for each physical core; true: every logical CPU
  bool smt = false;
  /// keep only widths that are powers of two (papers.md E12)
  bool powers_of_two = false;
  /// local machine only: ignore the process's affinity mask
  bool all_cpus = false;
};

namespace detail {
struct layout;
}

/// An immutable description of cores and places.
class machine {
 public:
  /// The computer this process runs on, limited to the CPUs the process may use. Throws input_error
  /// if hwloc fails.
  static machine local(const machine_options& = {});
  /// An hwloc XML export (format 2). Throws input_error naming the file if it is missing, truncated
  /// or foreign.
  static machine from_xml(const std::string& path, const machine_options& = {});
  /// An hwloc synthetic string such as "pack:2 l3:1 core:4 pu:1".
  static machine from_synthetic(const std::string& description, const machine_options& = {});
  /// A platform file: a path, or the name of one in the platform directory ("jetson-tx2"). Errors
  /// name the line.
  static machine from_platform(const std::string& name_or_path, const machine_options& = {});
  /// `cores` equal cores in one cluster, OS index = id. For tests and for runtimes larger than the
  /// machine.
  static machine uniform(std::uint32_t cores, std::uint32_t clusters = 1);
  /// From parts; `cores[i].id == i`, clusters contiguous and of one kind. Throws input_error
  /// otherwise.
  machine(std::string name, std::vector<core_kind> kinds, std::vector<core> cores,
          bool powers_of_two = false);

  /// This machine with only `keep` of its cores, renumbered densely; places are derived anew from
  /// what is left.
  [[nodiscard]] machine restricted_to(std::span<const core_id> keep) const;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] std::span<const core_kind> kinds() const noexcept { return kinds_; }
  [[nodiscard]] std::span<const core> cores() const noexcept { return cores_; }
  [[nodiscard]] std::span<const cluster> clusters() const noexcept { return clusters_; }
  /// All places, cluster by cluster, then by width, then by leader; `place_id` indexes this.
  [[nodiscard]] std::span<const place> places() const noexcept { return places_; }
  /// All places in the scan order of a whole-table search: core ascending, then width ascending
  /// (papers.md A1.1).
  [[nodiscard]] std::span<const place_id> scan_order() const noexcept { return scan_order_; }

  [[nodiscard]] std::uint32_t core_count() const noexcept {
    return static_cast<std::uint32_t>(cores_.size());
  }
  [[nodiscard]] const place& at(place_id p) const noexcept { return places_[p]; }
  [[nodiscard]] std::optional<place_id> find(place p) const noexcept;
  /// The width-1 place of a core.
  [[nodiscard]] place_id single(core_id c) const noexcept { return single_[c]; }
  /// Places that contain the core, whoever leads them, width ascending (papers.md E55,
  /// `containing`).
  [[nodiscard]] std::span<const place_id> containing(core_id c) const noexcept;
  /// Places that the core leads, width ascending (papers.md E55, `row`).
  [[nodiscard]] std::span<const place_id> led_by(core_id c) const noexcept;
  /// Cores of kind 0; all cores if there is one kind only.
  [[nodiscard]] std::vector<core_id> fastest_cores() const;

 private:
  friend struct detail::layout;  // policy_plugin.hpp
  void derive(bool powers_of_two);

  std::string name_;
  std::vector<core_kind> kinds_;
  std::vector<core> cores_;
  std::vector<cluster> clusters_;
  std::vector<place> places_;
  std::vector<place_id> scan_order_;
  std::vector<place_id> single_;
  std::vector<place_id> containing_flat_, led_flat_;
  std::vector<std::uint32_t> containing_begin_, led_begin_;
  bool powers_of_two_ = false;
};

/// Directories searched for platform files, first hit wins: $KILTER_PLATFORMS,
/// PREFIX/share/kilter/platforms of a program PREFIX/bin/NAME, the data of the tree that the
/// library was built from, and of the prefix that it was configured for.
[[nodiscard]] std::vector<std::string> platform_directories();

/// How many cores' worth of time the cgroup quota (v1 or v2) leaves to this process; nullopt if
/// there is no limit.
[[nodiscard]] std::optional<double> cgroup_quota_cores();

/// "0-3,6" or "2," (a list) or "4" (a count, the first four) as core ids of `m`; input_error names
/// what is wrong.
[[nodiscard]] std::vector<core_id> parse_cores(std::string_view text, const machine& m);

}  // namespace v0
}  // namespace kilter
