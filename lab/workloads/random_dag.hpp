#pragma once
// The random DAG of S2 (library/graph/random_shape.hpp) over kernels of a platform.

#include <cstdint>
#include <string>
#include <vector>

#include "graph/random_shape.hpp"
#include "kilter/machine.hpp"
#include "workloads/native_kernels.hpp"
#include "workloads/task_graph.hpp"

namespace kilter::lab {

struct random_dag {
  struct part {
    std::string kernel;  ///< of the platform's
    std::uint32_t tile = 0;
  };
  /// each once; as many tasks of each, the first ones get what is left over
  std::vector<part> kernels;
  std::uint32_t tasks = 4000;  ///< all of them
  /// mean width of a level; the DAG's parallelism only at edge rate 1
  std::uint32_t parallelism = 16;
  /// 0..1: how likely a task that is no ancestor yet becomes a parent
  double edge_rate = 1.0;
  std::uint64_t seed = 1;
};

/// The whole DAG, in the order of creation.
[[nodiscard]] std::vector<random_node> nodes_of(const random_dag&);

/// Tasks of one type a kernel, all low: who is critical is for the policy to find
/// (`--criticality`). Fills `slot`.
[[nodiscard]] task_graph build(graph&, const random_dag&, const sim::platform&,
                               body_runner* = nullptr);

/// For threads: each task runs its kernel once, on the buffers of its slot. So it finds in the
/// cache what its ancestor left, if it runs where that ran. Where a kernel's slots take more than
/// its pool, some of them have the same buffers; tasks that have them at one time then wait for one
/// another.
[[nodiscard]] native_kernels build_native(graph&, const random_dag&, const machine&);

}  // namespace kilter::lab
