#pragma once
// The random DAG with data reuse of S2, section 5.1; its shape follows the code behind the paper
// (papers.md A3.2).

#include <cstdint>
#include <vector>

namespace kilter {

struct random_shape {
  /// how many; as many tasks of each, the first ones get what is left over
  std::uint32_t kernels = 1;
  std::uint32_t tasks = 4000;  ///< all of them
  /// mean width of a level; the DAG's parallelism only at edge rate 1
  std::uint32_t parallelism = 16;
  /// 0..1: how likely a task that is no ancestor yet becomes a parent
  double edge_rate = 1.0;
  std::uint64_t seed = 1;
};

/// The test for ancestors keeps a bit for each pair of tasks: 160 MB at this limit.
inline constexpr std::uint32_t most_random_tasks = 50'000;
/// A task looks so far back for parents.
inline constexpr std::uint32_t random_reach = 200;

/// One task before it is a task.
struct random_node {
  std::uint32_t kernel = 0;  ///< 0 .. kernels - 1
  std::uint32_t level = 0;
  /// its data; tasks that may run at the same time never have the same one
  std::uint32_t slot = 0;
  /// numbers of earlier levels, latest first; none of them follows from another
  std::vector<std::uint32_t> parents;
};

/// The whole DAG, in the order of creation. O(tasks x (tasks / 64 x parents + slots)).
[[nodiscard]] std::vector<random_node> nodes_of(const random_shape&);

}  // namespace kilter
