#pragma once
// Policies against one another on graphs and workloads: one experiment for each graph on each
// machine.

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "measuring/measurement.hpp"

namespace kilter::lab {

/// What `kilter compare` runs.
struct compare_specification {
  /// of the catalogue; comes first. Empty: there are graphs alone
  std::string workload;
  parameter_values parameters;  ///< of the workload
  /// files, generators and workloads, as make_named takes them
  std::vector<std::string> graphs;
  std::vector<lab::workload> given;  ///< that the caller brings; come last
  std::vector<engine_choice> on;     ///< none: what the graph brings, else native
  /// policies, disturbances and all modes; no criticality: usual_criticality
  specification common;
  std::string like = "matmul", scale = "1", widths;  ///< parameters of each graph
};

/// What a graph suits: user if its tasks are marked as critical, else chain.
[[nodiscard]] criticality criticality_for(const dag&);
/// The same for graphs; of workloads each policy's own.
[[nodiscard]] std::optional<criticality> usual_criticality(const workload&);

/// One experiment for each graph on each machine. Where two policies or more are compared, rws is
/// among them, first. Traced runs are made only where there is one experiment. input_error for
/// whatever cannot be run.
[[nodiscard]] std::vector<experiment> plan(const compare_specification&);

/// Many experiments, one after the other or, simulated ones, several at a time. The result does not
/// depend on that.
class comparison {
 public:
  struct finished {
    std::shared_ptr<const experiment> plan;  ///< null: not begun
    experiment_result result;
  };
  struct outcome {
    std::vector<std::vector<result_row>> rows;  ///< by experiment; none where it has not begun
    std::vector<finished> experiments;          ///< the same with all their runs, if they are kept
    std::vector<std::string> notes;
    /// which policy is best, and what single experiments show
    std::vector<std::string> findings;
    std::string table_lost;  ///< as of an experiment
    bool complete = false;
    double tool_seconds = 0.0;
  };
  /// An experiment that is planned when its turn comes, so that not all graphs are in memory at
  /// once.
  using planned = std::function<experiment()>;
  enum class keeping : std::uint8_t { rows, runs };

  comparison(std::vector<planned>, std::uint32_t at_a_time, keeping, progress&);
  /// Returns early when the process is interrupted. Throws what an experiment throws.
  void run();
  /// At any time and from any thread: what is known by then.
  [[nodiscard]] outcome result() const;

 private:
  void work();
  void run_one(std::size_t which);

  std::vector<planned> planned_;
  std::uint32_t at_a_time_;
  keeping keeps_;
  progress& progress_;
  std::int64_t start_ns_;
  mutable std::mutex mutex_;  ///< guards all below
  std::size_t next_ = 0;
  std::vector<std::vector<result_row>> rows_;
  std::vector<std::shared_ptr<measurement>> measured_;  // by experiment
  std::vector<std::string> notes_, evidence_;
  std::exception_ptr failed_;
  bool complete_ = false;
};

}  // namespace kilter::lab
