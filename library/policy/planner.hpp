#pragma once
// Plans of a whole graph on processors whose costs are known: numbers in, schedule out. What
// carries a plan out is library/policy/planned.hpp.

#include <cstdint>
#include <span>
#include <vector>

namespace kilter::planner {

struct plan_edge {
  std::uint32_t from = 0, to = 0;
  double cost_s = 0.0;  ///< >= 0; seconds if the two run on different processors
};

struct plan_input {
  std::uint32_t tasks = 0, processors = 0;
  /// tasks x processors, row by row, >= 0; infinite: not there. Each task can run somewhere
  std::span<const double> seconds;
  std::span<const plan_edge> edges;  ///< no cycle, no pair twice; in any order
};

struct plan {
  static constexpr std::uint32_t nowhere = ~0u;

  std::vector<std::uint32_t> order;      ///< tasks as they were placed; an order of the edges
  std::vector<std::uint32_t> processor;  ///< by task, as all that follow
  std::vector<double> start_s, end_s;
  /// from the task's start to the end of the graph, mean costs
  std::vector<double> upward_s;
  /// from the beginning of the graph to the task's start; CPOP's
  std::vector<double> downward_s{};
  std::vector<std::uint32_t> critical_path{};  ///< CPOP's: tasks from an entry on
  /// CPOP's; nowhere if no processor can run the whole path
  std::uint32_t critical_processor = nowhere;
  double makespan_s = 0.0;  ///< when the last task ends
};

/// Both: ties go to the lower index. O((tasks + edges) log tasks + tasks x processors x search),
/// where a search for a gap looks at the gaps of one block and at the longest gap of each further
/// block.
[[nodiscard]] plan heft(const plan_input&);
[[nodiscard]] plan cpop(const plan_input&);

}  // namespace kilter::planner
