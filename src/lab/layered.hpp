#pragma once
// The layered DAG of the papers (S0, section 4.2.2; facts A1.3) over one kernel.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/kernels.hpp"
#include "kilter/graph.hpp"
#include "lab/task_graph.hpp"

namespace kilter::lab {

/// A root, then layers of `parallelism` tasks. Exactly one task of a layer is critical: it alone has children, the whole next
/// layer, until the tasks are used up. The last layer may be cut, and keeps a critical task.
struct layered_shape {
  std::uint64_t tasks = 32'000;   ///< all of them, the root included (facts E21); at least 1
  std::uint32_t parallelism = 4;  ///< tasks in a layer, at least 1
  std::uint64_t seed = 1;         ///< draws which task of a layer is the critical one
};

struct layer {
  std::uint64_t first = 0;      ///< index of its first task
  std::uint32_t size = 0;
  std::uint32_t critical = 0;   ///< position of the critical task, 0 .. size - 1

  [[nodiscard]] std::uint64_t critical_task() const noexcept { return first + critical; }
};

/// The layers, the root being the first one. The critical position is drawn for each layer, so that no order in which
/// children are released favours a policy by luck.
[[nodiscard]] std::vector<layer> layers_of(const layered_shape&);

/// Tasks on the longest path: the root and one a layer. Tasks / longest path is the DAG parallelism (facts A0, E20).
[[nodiscard]] std::uint64_t longest_path(const layered_shape&) noexcept;

/// Fills `g` with tasks that differ in priority only; task i gets the callable `make_body(i)`.
template <class MakeBody>
void build_layered(graph& g, const layered_shape& shape, task_options options, MakeBody&& make_body) {
  task parent;
  for (const layer& l : layers_of(shape)) {
    task next_parent;
    for (std::uint32_t i = 0; i < l.size; ++i) {
      options.priority = i == l.critical ? priority::high : priority::low;
      const task t = g.add(options, make_body(l.first + i));
      if (parent) g.edge(parent, t);
      if (i == l.critical) next_parent = t;
    }
    parent = next_parent;
  }
}

/// Task i runs index i of the kernel; the type is the kernel's name. Chunks are the kernel's parts, so members that come late take no
/// work. The kernel must outlive the graph. `widths`: allowed ones; empty: all.
void build_layered(graph& g, const layered_shape&, apps::kernel_instance&, std::span<const std::uint32_t> widths = {});

/// A layered DAG and the kernel that its tasks run.
struct layered_work {
  std::string kernel = "matmul";
  std::uint32_t tile = 64, sweeps = 1;
  layered_shape shape;
};

inline constexpr std::uint64_t most_tasks = 100'000'000, most_tile = 8'192, most_sort_keys = 1u << 26;

/// Tasks of S0's figures for the kernel (facts A1.3, E22): enough for a run of about a second or more. Sort: ours.
[[nodiscard]] std::uint64_t default_tasks(std::string_view kernel);

/// For the simulator: a task is one run of the kernel, or as many as there are sweeps.
[[nodiscard]] task_graph build(graph&, const layered_work&, const sim::platform&, body_runner* = nullptr);

}  // namespace kilter::lab
