#pragma once
// A workload's graph as the simulator needs it: what the tasks of each type do, and what is known
// of single tasks beside that.

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "kilter/graph.hpp"
#include "sim/engine.hpp"

namespace kilter::lab {

/// What a workload's tasks do where threads run them; called by each member of a task.
class body_runner {
 public:
  virtual ~body_runner() = default;
  virtual void run_body(team_member&) = 0;
};
/// The callable of one task. It fits into the task itself.
[[nodiscard]] inline auto body_of(body_runner* r) {
  return [r](team_member& c) { r->run_body(c); };
}

struct task_graph {
  /// by type of the graph; the nameless first one, which no workload uses, does nothing
  std::vector<sim::type_work> types;
  /// by type of the graph, all that its tasks allow together; empty, or shorter: every width
  std::vector<std::vector<std::uint32_t>> widths;
  /// by task number; empty if the workload does not iterate
  std::vector<std::uint32_t> iteration;
  /// by task number: which data it works on; empty if that is not told
  std::vector<sim::task_data> data;
  std::vector<home_cores> apart;  ///< as sim::engine_options::apart

  task_graph() = default;
  explicit task_graph(graph&) : types(1) {}
  /// Adds a type and what its tasks do.
  task_type type(graph&, std::string_view name, sim::type_work);
};

/// What tells one task from the others for a bound.
struct task_facts {
  std::uint32_t type = 0;
  double work = 1.0;  ///< how many times it does what its type does
};

/// The work of a graph and its longest path, in the unit of `seconds_of`, and the tasks on that
/// path.
struct graph_length {
  double work_s = 0.0, path_s = 0.0;
  std::uint64_t path_tasks = 0;
};

/// Lengths from the cost of each task: `work_of` one task in the sum of all, `seconds_of` one task
/// on the longest path. The graph must have been built in an order of its edges, as those of all
/// workloads are. O(tasks + edges).
[[nodiscard]] graph_length measure(graph&, const std::function<double(const task_facts&)>& work_of,
                                   const std::function<double(const task_facts&)>& seconds_of);

}  // namespace kilter::lab
