#pragma once
// A machine as the simulator sees it: its cores, and what work costs there. Read from a platform
// file; lab/docs/platform-files.md lists the tables, lab/docs/simulator.md gives the equations that
// they feed.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kilter/machine.hpp"
#include "sim/contention.hpp"

namespace kilter::sim {

/// Where numbers come from. `fitted_to`: claims that they were adjusted to; an experiment on one of
/// them must not use them.
struct origin {
  std::string source;
  std::vector<std::string> fitted_to{};
};

struct clock_steps {
  /// ascending; the last is the default. Empty: the kind's clock does not change
  std::vector<double> mhz;
  /// the old clock holds for so long after a change was asked for
  double transition_s = 0.0;
  origin from{};
  /// The step next to `factor` of the highest clock. There must be steps.
  [[nodiscard]] double nearest_mhz(double factor) const noexcept;
  /// As a factor again; `factor` itself if there are no steps.
  [[nodiscard]] double nearest(double factor) const noexcept {
    return mhz.empty() ? factor : nearest_mhz(factor) / mhz.back();
  }
};

/// One kernel on one kind of core, undisturbed, the clock at `mhz`.
struct kernel_cost {
  std::string name;   ///< as in `kilter compare layered --kernel`
  double size = 0.0;  ///< tile edge or number of elements that the figures are for
  kind_id kind = 0;
  double mhz = 0.0;  ///< 0: the kind has no clock
  /// of one task, by the widths of this kind's clusters, ascending
  std::vector<double> seconds;
  double bytes = 0.0;        ///< traffic of one task that must reach memory
  double working_set = 0.0;  ///< bytes that one task wants to find in its cluster's cache
  /// traffic if the working sets of a cluster's running tasks do not fit; >= bytes
  double bytes_beyond_cache = 0.0;
  int seconds_power = 1, bytes_power = 1;  ///< growth with size: 1, 2 or 3
  origin from{};

  /// Seconds at another size, by the power law. Multiplications only.
  [[nodiscard]] double seconds_at(double wanted_size, std::size_t width_index) const noexcept;
  /// Factor for bytes, working_set and bytes_beyond_cache at another size.
  [[nodiscard]] double bytes_factor(double wanted_size) const noexcept;
};

struct power_figure {
  kind_id kind = 0;
  double mhz = 0.0;
  std::vector<double> busy_w;  ///< all members together, by width ascending
  double idle_w = 0.0;         ///< of the whole cluster
  origin from{};
};

/// papers.md B6.5. Seconds.
struct overheads {
  double push_s = 0.1e-6, steal_try_s = 1e-6, steal_s = 2e-6, search_all_s = 1e-6,
         search_own_s = 0.1e-6, assembly_s = 0.1e-6, wake_s = 0.2e-6;
  origin from{"default: assumed, of the size that such operations have"};
};

struct co_runner_habits {
  /// how long the operating system leaves a core to one of two runnable threads
  double slice_s = 0.004;
  double share = 0.5;  ///< what a fluid co-runner leaves
  origin from{"default: assumed"};
};

/// What 64 bytes that another core wrote take more than those in a core's own cache. 0: nothing.
struct moved_line_figure {
  double in_cluster_s = 0.0, between_clusters_s = 0.0;
  [[nodiscard]] bool told() const noexcept {
    return in_cluster_s > 0.0 || between_clusters_s > 0.0;
  }
};

/// Machines of several nodes: every node has `clusters_per_node` clusters, in the machine's order,
/// and the chip's bandwidth for itself.
struct network_figure {
  std::uint32_t clusters_per_node = 1;
  double bytes_per_s = 0.0, latency_s = 0.0;
  origin from{};
};

struct platform {
  std::string name, description, file;
  std::shared_ptr<const machine> cores;
  std::vector<clock_steps> clocks;          ///< by kind
  std::vector<double> core_bytes_per_s;     ///< by kind; 0: no limit
  std::vector<double> cluster_bytes_per_s;  ///< by kind; 0: no limit
  double chip_bytes_per_s = 0.0;            ///< of each node if there is a network; 0: no limit
  /// by cluster: what its tasks share; 0: not known, so everything fits
  std::vector<std::uint64_t> cache_bytes;
  std::vector<std::uint64_t>
      core_cache_bytes;  ///< by cluster: what a core has for itself; 0: as above
  std::vector<kernel_cost> kernels;
  std::vector<power_figure> power;
  overheads costs{};
  co_runner_habits co_runner{};
  double noise_sigma = 0.0;
  std::optional<network_figure> network{};
  moved_line_figure moved_line{};
  kilter::sim::contention contention{};
  /// Every table that gave a number, with its provenance, for `kilter lab platforms NAME` and for
  /// the check that no claim is checked with a number that was fitted to it. The names: "kind
  /// denver", "cluster 0", "cache of cluster 0", "cache of a core of cluster 0", "clock of denver",
  /// "bandwidth of a denver core", "bandwidth of a denver cluster", "bandwidth of the chip",
  /// "kernel matmul 256 on denver", "power of denver at 2035.2 MHz", "overheads", "co-runner",
  /// "noise", "network", "moved line", "gather on denver", "steal", "sleep", "lend", "shared
  /// queue", "busy denver", "decisions of auto on tasks of 0.001 s". What the file leaves to the
  /// defaults is not there.
  std::vector<std::pair<std::string, origin>> origins;

  /// A name, a path, or `grid:CxN`: C clusters of N equal cores with a kernel of 1 ms at size 64
  /// for every name. input_error with file and line, naming the value and what would be right.
  static platform load(const std::string& name_or_path);
  /// Names of the platforms that came with Kilter and of those in $KILTER_PLATFORMS, sorted.
  static std::vector<std::string> names();

  /// The same machine with fewer cores; figures at widths that it did not have are interpolated.
  /// input_error as machine::restricted_to.
  [[nodiscard]] platform restricted_to(std::span<const core_id> keep) const;

  /// The kernel's cost on a kind; of several sizes the one nearest by ratio. Null if the file has
  /// none.
  [[nodiscard]] const kernel_cost* find(std::string_view kernel, double size,
                                        kind_id) const noexcept;
  /// Widths of the kind's clusters, ascending, each once: what `seconds` and `busy_w` are indexed
  /// by.
  [[nodiscard]] std::vector<std::uint32_t> widths(kind_id) const;
  /// By a name as in `origins`; null if the file says nothing there.
  [[nodiscard]] const origin* origin_of(std::string_view what) const noexcept;
};

}  // namespace kilter::sim
