#pragma once
// What this computer's cores need for the project's kernels, measured through the runtime, as a
// platform file that the simulator reads.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kilter/machine.hpp"
#include "session/progress.hpp"
#include "workloads/workload.hpp"

namespace kilter::lab {

/// Median with the quartiles; all zero if there are no samples.
struct sampled_value {
  double median = 0.0, low = 0.0, high = 0.0;
  std::uint64_t samples = 0;
};
[[nodiscard]] sampled_value sampled_value_of(std::vector<double> values);

/// Mean of all but the slowest hundredth, which others interrupted, with the quartiles of all: for
/// what comes in several kinds, which all count.
struct mean_value {
  double mean = 0.0;
  sampled_value all;
};
[[nodiscard]] mean_value mean_value_of(std::vector<double> values);

struct calibration_plan {
  std::shared_ptr<const kilter::machine> machine;
  std::vector<sized_kernel> kernels;
  std::uint32_t repeats = 5;  ///< every figure is taken so often, in turn with all others
  double batch_s = 0.15;      ///< length of one row of tasks, of one loop
};

/// The words of `kilter lab calibrate`. input_error with one line for what cannot be measured.
[[nodiscard]] calibration_plan plan_calibration(const std::string& kernels,
                                                const std::string& tiles,
                                                const std::string& repeats,
                                                const std::string& cores);
[[nodiscard]] std::uint64_t steps_of(const calibration_plan&);

struct calibration {
  struct kernel {
    std::string name;
    std::uint32_t size = 0;
    kind_id kind = 0;
    core_id core = 0;  ///< where it was measured: on the places around it
    std::vector<std::uint32_t> widths;
    /// of one task, by width: what its members worked, divided by the width
    std::vector<sampled_value> seconds;
    double bytes = 0.0;  ///< that one task reads and writes
  };
  /// A figure by how many cores take part.
  struct counted {
    std::vector<std::uint32_t> counts;
    std::vector<sampled_value> values;
  };
  /// From the end of a wide task to the start of the next, over all kernels:
  /// lab/docs/platform-files.md.
  struct gathering {
    kind_id kind = 0;
    counted own_s, others_s;
  };
  struct deciding {
    std::string policy;
    std::uint32_t tile = 0;  ///< of the products
    double task_s = 0.0;     ///< what one takes alone
    mean_value ready_s, take_s, next_s;
  };
  std::shared_ptr<const kilter::machine> machine;
  std::uint32_t repeats = 0;
  std::vector<kernel> kernels;
  /// by kind; no samples where a cluster is one core
  std::vector<sampled_value> core_bytes_per_s, cluster_bytes_per_s;
  /// no samples if there is one cluster
  sampled_value chip_bytes_per_s;
  /// what a moved line takes more; no samples without such cores
  sampled_value in_cluster_line_s, between_clusters_line_s;
  /// of kinds with clusters of several cores
  std::vector<gathering> gather;
  counted look_s, steal_s, queue_s;  ///< empty on one core
  /// by kind; empty where a cluster is one core
  std::vector<counted> slower;
  double sleeps_after_s = 0.0, sleeps_long_after_s = 0.0, looks_after_s = 0.0;
  /// no samples on one core
  sampled_value call_s, up_s, lend_s, keeps_s;
  std::vector<deciding> decisions;
  /// of two threads on one core; no samples if nothing was seen
  sampled_value slice_s;
  /// of the logarithm of a task's time at width 1, over the kernels
  sampled_value sigma;
  /// false after Ctrl-C: not to be used
  bool complete = false;
};

/// Takes the whole machine for about `steps_of(plan)` times `batch_s` and the filling of the
/// kernels' buffers.
[[nodiscard]] calibration calibrate(const calibration_plan&, progress&);

}  // namespace kilter::lab
