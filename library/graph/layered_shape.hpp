#pragma once
// The shape of the layered DAG of the papers (S0, section 4.2.2; papers.md A1.3).

#include <cstdint>
#include <vector>

namespace kilter {

/// A root, then layers of `parallelism` tasks. Exactly one task of a layer is critical: it alone
/// has children, the whole next layer, until the tasks are used up. The last layer may be cut, and
/// keeps a critical task.
struct layered_shape {
  std::uint64_t tasks = 32'000;   ///< all of them, the root included (papers.md E21); at least 1
  std::uint32_t parallelism = 4;  ///< tasks in a layer, at least 1
  std::uint64_t seed = 1;         ///< draws which task of a layer is the critical one
};

struct layer {
  std::uint64_t first = 0;  ///< index of its first task
  std::uint32_t size = 0;
  std::uint32_t critical = 0;  ///< position of the critical task, 0 .. size - 1

  [[nodiscard]] std::uint64_t critical_task() const noexcept { return first + critical; }
};

/// The layers, the root being the first one. The critical position is drawn for each layer, so that
/// no order in which children are released favours a policy by luck.
[[nodiscard]] std::vector<layer> layers_of(const layered_shape&);

/// Tasks on the longest path: the root and one a layer. Tasks / longest path is the DAG parallelism
/// (papers.md A0, E20).
[[nodiscard]] std::uint64_t longest_path(const layered_shape&) noexcept;

}  // namespace kilter
