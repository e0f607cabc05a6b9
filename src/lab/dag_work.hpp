#pragma once
// A graph that came as data (graph/dag.hpp) as a workload: what its tasks cost on a platform, and what they do natively.

#include <memory>
#include <string>
#include <vector>

#include "graph/dag.hpp"
#include "lab/burn.hpp"
#include "lab/task_graph.hpp"

namespace kilter::lab {

struct dag_work {
  std::string from;                 ///< a file or a generator, as the user wrote it
  std::shared_ptr<const dag> what;
  std::string like = "matmul";      ///< the kernel that tasks which name none are scaled like on a platform
  double scale = 1.0;               ///< recorded and given seconds and edge costs are multiplied by it, > 0
  bool given = false;               ///< runs on the ideal machine that the graph brings, at its given costs
};

/// Reads the graph or makes it. input_error if there is no such graph, if no task of it takes any time, or if `like` is no kernel.
[[nodiscard]] dag_work load_dag_work(const std::string& from, std::string like, double scale);

/// Seconds of one task before the scale: those recorded, else the least that it takes on a processor that the graph brings.
[[nodiscard]] double recorded_s(const dag&, std::uint32_t task) noexcept;

/// Types by name. Tasks of one type whose seconds lie in one power of two are one size class. A recorded duration is the time at width 1 on the
/// fastest kind: a task does its kernel so many times as fit into that there. A task of no seconds runs its kernel once if it names one, else it
/// takes no time. With `given`, tasks take what the graph says for each processor, and no kernel is asked. input_error naming a task that allows
/// no width that the platform has, or a kernel without figures.
[[nodiscard]] task_graph build(graph&, const dag_work&, const sim::platform&, body_runner* = nullptr);

/// The kernels that the tasks run natively.
inline constexpr std::size_t no_kernel = ~std::size_t{0};
struct native_kernels {
  std::vector<std::unique_ptr<apps::kernel_instance>> all;
  std::vector<std::size_t> of_type;   ///< by type of the graph: position in `all`, no_kernel for the nameless one; empty: all tasks run the first one
};
/// For threads: a task of a type that names a kernel runs that once at its size; others burn CPU for their seconds at the speed of the first core
/// of the machine, in chunks, so at any width. A task's `work` is how often it runs its kernel, or so many pieces of burning.
[[nodiscard]] native_kernels build_native(graph&, const dag_work&, const machine&);

}  // namespace kilter::lab
