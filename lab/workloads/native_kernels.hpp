#pragma once
// What a workload's tasks do natively.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "apps/kernels.hpp"
#include "kilter/graph.hpp"

namespace kilter::lab {

/// The kernels that the tasks of a graph run; they must outlive its runs.
inline constexpr std::size_t no_kernel = ~std::size_t{0};
struct native_kernels {
  std::vector<std::unique_ptr<apps::kernel_instance>> all;
  /// by type of the graph: position in `all`, no_kernel for the nameless one; empty: all tasks run
  /// the first one
  std::vector<std::size_t> of_type;
  std::vector<std::vector<std::uint32_t>> widths;  ///< as task_graph::widths
};

/// The callable of a task that runs a kernel once, on its buffers number `index`. Chunks are the
/// kernel's parts, so members that come late take no work.
[[nodiscard]] inline auto kernel_body(apps::kernel_instance& kernel, std::uint64_t index) {
  return [&kernel, index](team_member& me) {
    const std::uint32_t parts = kernel.parts(me.width());
    while (const chunk some = me.next_chunk(parts, 1))
      for (std::size_t part = some.begin; part < some.end; ++part)
        kernel.run_part(index, static_cast<std::uint32_t>(part), parts);
  };
}

}  // namespace kilter::lab
