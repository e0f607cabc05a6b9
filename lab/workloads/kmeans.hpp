#pragma once
// K-means as a DAG (S0, sections 4.2.2 and 5.4; papers.md A1.3): iterations that follow each other,
// each cut into tasks.

#include <cstdint>

#include "workloads/task_graph.hpp"

namespace kilter::lab {

/// The defaults are the usual input of Rodinia's k-means; iterations and tasks are ours (papers.md
/// A1.3).
struct kmeans {
  std::uint64_t points = 494'020;
  std::uint32_t features = 34, clusters = 5;
  std::uint32_t iterations = 60;
  std::uint32_t tasks_per_iteration = 32;
  /// points of the critical task of an iteration over those of any other; at least 1
  double critical_factor = 1.25;
  std::uint64_t seed = 1;  ///< draws which task of an iteration it is
};

/// Points of a task that is not critical; with those of the critical one they add up to all. May be
/// a fraction.
[[nodiscard]] double points_of_a_task(const kmeans&) noexcept;

/// Every task of an iteration comes before every task of the next one. Fills `iteration`. The
/// platforms have no figures for k-means: a task counts as so many 64 x 64 matrix products as have
/// its operations, three for each point, feature and cluster.
[[nodiscard]] task_graph build(graph&, const kmeans&, const sim::platform&, body_runner* = nullptr);

}  // namespace kilter::lab
