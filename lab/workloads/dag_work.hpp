#pragma once
// A graph that came as data (graph/dag.hpp) as a workload: what its tasks cost on a platform, and
// what they do natively.

#include <memory>
#include <string>
#include <vector>

#include "graph/dag.hpp"
#include "workloads/burn.hpp"
#include "workloads/native_kernels.hpp"
#include "workloads/task_graph.hpp"

namespace kilter::lab {

struct dag_work {
  std::string from;  ///< a file or a generator, as the user wrote it
  std::shared_ptr<const dag> what;
  /// the kernel that tasks which name none are scaled like on a platform
  std::string like = "matmul";
  /// recorded and given seconds and edge costs are multiplied by it, > 0
  double scale = 1.0;
  /// of tasks for which the graph names none, ascending; empty: all
  std::vector<std::uint32_t> widths{};
  /// runs on the ideal machine that the graph brings, at its given costs
  bool given = false;
};

/// Reads the graph or makes it. `widths`: "all", a list as "1,2,4", or empty for the graph's own.
/// input_error if there is no such graph, if no task of it takes any time, if `like` is no kernel,
/// or for a list of widths that cannot be.
[[nodiscard]] dag_work load_dag_work(const std::string& from, std::string like, double scale,
                                     const std::string& widths = {});

inline constexpr const char* widths_meaning =
    "Cores that one task may run on at once, where the graph does not say: all, or a list as 1,2,4 "
    "(default: 1 in files, which hold recorded programs; all in generators and kilter.graph/1)";

/// The same of a graph that is there; `from` names it.
[[nodiscard]] dag_work make_dag_work(dag, const std::string& from, std::string like, double scale,
                                     const std::string& widths = {});

/// "all" or "1,2,4": what load_dag_work takes.
[[nodiscard]] std::string widths_text(const std::vector<std::uint32_t>&);
/// On how many cores tasks may run there, for a reader of results: a clause without a full stop.
[[nodiscard]] std::string widths_note(const dag_work&, const machine&);
/// input_error naming a task, or the option, that allows no width which the machine has.
void check_widths(const dag_work&, const machine&);

/// Seconds of one task before the scale: those recorded, else the least that it takes on a
/// processor that the graph brings.
[[nodiscard]] double recorded_s(const dag&, std::uint32_t task) noexcept;

/// Of the tile on which tasks of the type run that kernel.
[[nodiscard]] double size_of_kernel(const dag::type&, const std::string& kernel);

/// Types by name. Tasks of one type whose seconds lie in one power of two are one size class. A
/// recorded duration is the time at width 1 on the fastest kind: a task does its kernel so many
/// times as fit into that there. A task of no seconds runs its kernel once if it names one, else it
/// takes no time. With `given`, tasks take what the graph says for each processor, and no kernel is
/// asked. input_error naming a kernel without figures, and as check_widths.
[[nodiscard]] task_graph build(graph&, const dag_work&, const sim::platform&,
                               body_runner* = nullptr);

/// For threads: a task of a type that names a kernel runs that once at its size; others burn CPU
/// for their seconds at the speed of the first core of the machine, in chunks, so at any width that
/// they allow. A task's `work` is how often it runs its kernel, or so many pieces of burning.
[[nodiscard]] native_kernels build_native(graph&, const dag_work&, const machine&);

}  // namespace kilter::lab
