#pragma once
// Policies against one another on graphs and workloads: one row for each of them, each machine,
// disturbance and policy.

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measuring/measurement.hpp"

namespace kilter::lab {

/// What `kilter compare` runs.
struct compare_specification {
  /// files, generators and workloads, as make_named takes them
  std::vector<std::string> graphs;
  std::vector<engine_choice> on;  ///< none: what the graph brings, else native
  /// policies, disturbances and all modes; no criticality: criticality_for each of them
  specification common;
  std::string like = "matmul", scale = "1", widths;  ///< parameters of each graph
};

/// What the repeats of one policy in one scenario gave. Ratios are of medians.
struct compare_row {
  std::string graph, on, disturb, policy;
  std::vector<disturbance_kind> kinds{};  ///< of the disturbances
  double scale = 1.0;                     ///< of the seconds in the graph
  /// that tasks may have of which the graph names none; "all" or as "1,2"
  std::string widths = "all";
  std::string about{};  ///< the same in words; of a workload what it is
  std::uint32_t runs = 0;
  /// no schedule of this graph on this machine under this disturbance takes less
  double bound_s = 0.0;
  bool in_virtual_time = false;
  double makespan_s = 0.0;  ///< of the execution, median
  double least_s = 0.0, most_s = 0.0;
  std::vector<double> runs_s{};  ///< of each run
  /// makespan of rws / own: above 1 is faster than rws; absent if rws has not run
  std::optional<double> ratio_to_rws{};
  double ratio_to_bound = 0.0;  ///< bound / own: 1 is as fast as can be
  /// makespan / the longest path with every task on the place that is fastest for it, undisturbed
  double slr = 0.0;
  /// all tasks one after the other on the one core that is fastest for them, undisturbed / makespan
  double speedup = 0.0;
  double efficiency = 0.0;  ///< speedup / cores
  /// wall seconds that the policy took to plan the graph, median; absent if it plans nothing
  std::optional<double> plan_s{};
};

/// In the order of the scenarios, and of the policies in each; without what has not run.
[[nodiscard]] std::vector<compare_row> rows_of(const experiment&, const bench_result&);

/// Whether the policy makes a plan before the run, from costs that it is told.
[[nodiscard]] bool is_planned(std::string_view policy) noexcept;

/// The graph or the workload, as a row names it.
[[nodiscard]] std::string graph_name(const experiment&);

/// user if tasks are marked as critical, else chain.
[[nodiscard]] criticality criticality_for(const dag&);
[[nodiscard]] criticality criticality_for(const workload&);

/// One experiment for each graph on each machine; rws is always among the policies, first.
/// input_error for whatever cannot be run.
[[nodiscard]] std::vector<experiment> plan(const compare_specification&);

/// Many experiments, one after the other or, simulated ones, several at a time. The result does not
/// depend on that.
class comparison {
 public:
  struct outcome {
    std::vector<std::vector<compare_row>> rows;  ///< by experiment; none where it has not begun
    std::vector<std::string> notes;
    bool complete = false;
    double tool_seconds = 0.0;
  };
  /// An experiment that is planned when its turn comes, so that not all graphs are in memory at
  /// once.
  using planned = std::function<experiment()>;

  comparison(std::vector<planned>, std::uint32_t at_a_time, progress&);
  /// Returns early when the process is interrupted. Throws what an experiment throws.
  void run();
  /// At any time and from any thread: what is known by then.
  [[nodiscard]] outcome result() const;

 private:
  void work();
  void run_one(std::size_t which);

  std::vector<planned> experiments_;
  std::uint32_t at_a_time_;
  progress& progress_;
  std::int64_t start_ns_;
  mutable std::mutex mutex_;  ///< guards all below
  std::size_t next_ = 0;
  std::vector<std::vector<compare_row>> rows_;
  std::vector<std::shared_ptr<measurement>> running_;  // by experiment
  std::vector<std::string> notes_;
  std::exception_ptr failed_;
  bool complete_ = false;
};

}  // namespace kilter::lab
