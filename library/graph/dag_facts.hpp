#pragma once
// What the shape of a graph tells before anything runs.

#include <cstdint>
#include <vector>

#include "graph/dag.hpp"

namespace kilter {

struct dag_facts {
  std::uint64_t tasks = 0, edges = 0, roots = 0, sinks = 0;
  std::uint64_t high = 0;             ///< tasks with the user's high priority
  std::uint64_t timeless = 0;         ///< tasks of 0 s that name no kernel
  double work_s = 0.0;                ///< of all tasks
  double edges_s = 0.0, bytes = 0.0;  ///< of all edges
  double path_s = 0.0;                ///< longest path in seconds, edges free
  double path_with_edges_s = 0.0;     ///< longest path in seconds, every edge paid for
  std::uint64_t path_tasks = 0;       ///< longest path in tasks
  std::uint64_t critical = 0;         ///< tasks on any longest path in tasks
  /// by task: tasks on the longest path that ends before it
  std::vector<std::uint32_t> level;
  std::vector<std::uint64_t> widths;  ///< tasks on each level
  std::vector<std::uint64_t> tasks_of_type;
  std::vector<double> seconds_of_type;

  /// Tasks / tasks on the longest path (S0), and tasks / critical tasks (S2; papers.md A0). Equal
  /// if there is one longest path.
  [[nodiscard]] double parallelism() const {
    return static_cast<double>(tasks) / static_cast<double>(path_tasks);
  }
  [[nodiscard]] double parallelism_by_critical() const {
    return static_cast<double>(tasks) / static_cast<double>(critical);
  }
  /// Work / longest path: the speedup that no number of equal cores exceeds. 0 if no task takes
  /// time.
  [[nodiscard]] double speedup_limit() const { return path_s > 0.0 ? work_s / path_s : 0.0; }
};

/// The graph must be settled and have a task. O(tasks + edges).
[[nodiscard]] dag_facts facts_of(const dag&);

}  // namespace kilter
