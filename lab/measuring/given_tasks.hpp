#pragma once
// Bounds for tasks that bring their own seconds on each core, in the form in which measurements
// keep them: rates.

#include <cstdint>
#include <vector>

#include "kilter/graph.hpp"
#include "measuring/results.hpp"

namespace kilter::lab {

class given_tasks {
 public:
  /// All tasks must have task_options::core_seconds, and the graph must have been built in an order
  /// of its edges.
  given_tasks(graph&, std::uint32_t cores);

  /// Of a machine that leaves so much of each core, in the mean and to a path, and pays for so many
  /// cores at a time. Two bounds of all work, the larger one counts: every task takes at least the
  /// seconds of the core that does it fastest; and, weighting a task by the seconds that all cores
  /// together need for it, no core does more weight a second than with the task that suits it best.
  [[nodiscard]] rate_sample rates(const std::vector<double>& left,
                                  const std::vector<double>& left_to_path, double paid_cores) const;
  /// As mixed_tasks has them.
  [[nodiscard]] rate_sample rates_of_cores() const;
  [[nodiscard]] double largest() const;
  [[nodiscard]] double path_largest() const;
  [[nodiscard]] std::uint64_t tasks() const noexcept { return seconds_.size() / cores_; }
  [[nodiscard]] std::uint64_t path_tasks() const noexcept { return path_tasks_; }
  /// On the one core that is fastest for all of them.
  [[nodiscard]] double sequential_s() const;

 private:
  struct all_work {
    double least_s = 0.0, weight = 0.0;      // the two bounds
    double most_s = 0.0, most_weight = 0.0;  // of one task
    std::vector<double> weight_per_s;        // by core
  };
  [[nodiscard]] all_work work(const std::vector<double>& left) const;
  [[nodiscard]] double fastest_s(std::size_t task, const std::vector<double>& left) const;
  [[nodiscard]] double path_s(const std::vector<double>& left, std::uint64_t& tasks) const;
  [[nodiscard]] double work_s(const std::vector<double>& left, double paid_cores) const;

  std::uint32_t cores_;
  std::vector<double> seconds_;  // tasks x cores
  std::vector<std::vector<std::uint32_t>> successors_;
  std::uint64_t path_tasks_ = 0;
};

}  // namespace kilter::lab
