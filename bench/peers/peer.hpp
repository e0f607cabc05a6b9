#pragma once
// One runtime as the benchmarks see it, Kilter included: it builds a DAG and runs it, as often as
// asked. One implementation a file, written as the runtime's manual says.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kilter/runtime.hpp"
#include "peers/dag.hpp"

namespace kilter::bench {

/// How many threads run tasks, and where they may.
struct threads {
  std::vector<int> cpus;  ///< one thread a CPU, in this order
  bool pinned = false;    ///< each thread on its CPU; otherwise the operating system places them
};

/// All calls come from one thread, the same one; a peer may count it among its threads. After the
/// constructor all threads exist and have run something.
class contender {
 public:
  virtual ~contender() = default;
  contender() = default;
  contender(const contender&) = delete;
  contender& operator=(const contender&) = delete;

  /// Makes the graph; the former one must have been cleared. Runtimes without graph objects make it
  /// as they run.
  virtual void build(const dag&, const workload&) = 0;
  /// Runs the whole graph; returns when all tasks are done. `root`: the core whose worker starts
  /// it, if the runtime can tell.
  virtual void run(core_id root = no_core) = 0;
  virtual void clear() = 0;
  /// Share of the critical tasks of the last run that ran on a place with core 0; empty if the
  /// runtime does not tell.
  [[nodiscard]] virtual std::optional<double> critical_on_core_0() const { return std::nullopt; }
};

/// Every place of this type takes so long, as if it had been measured. The type of tasks without a
/// kernel is "empty".
struct runtime_preset {
  std::string type;
  double seconds = 0.0;
};
/// Static graphs of Kilter; a barrier is an empty task. Bodies are plain callables if they are
/// empty, and moldable (the kernel's chunks) otherwise.
[[nodiscard]] std::unique_ptr<contender> make_kilter(const runtime_options&,
                                                     const std::vector<runtime_preset>& = {});
/// Kilter without a graph: one task adds all others to its own graph as it runs and waits for them.
/// Independent tasks only.
[[nodiscard]] std::unique_ptr<contender> make_kilter_batch(const runtime_options&);
/// oneTBB's flow graph: a continue_node a task. With `priorities`, critical tasks have node
/// priority 1. Barriers: a parallel_for a layer, a task a piece.
[[nodiscard]] std::unique_ptr<contender> make_onetbb(const threads&, bool priorities = false);
/// oneTBB's task_group. Independent tasks only.
[[nodiscard]] std::unique_ptr<contender> make_onetbb_group(const threads&);
/// OpenMP tasks: every task makes its successors, which is the cheapest form for DAGs where each
/// has one predecessor. Barriers: a dynamic loop a layer.
[[nodiscard]] std::unique_ptr<contender> make_openmp(const threads&);

/// Of oneTBB's headers and of the OpenMP standard, for reports.
[[nodiscard]] std::string onetbb_version();
[[nodiscard]] std::string openmp_version();

}  // namespace kilter::bench
