#pragma once
// The layered DAG of the papers (library/graph/layered_shape.hpp) over one kernel.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "apps/kernels.hpp"
#include "graph/layered_shape.hpp"
#include "kilter/graph.hpp"
#include "workloads/task_graph.hpp"

namespace kilter::lab {

/// Fills `g` with tasks that differ in priority only; task i gets the callable `make_body(i)`.
template <class MakeBody>
void build_layered(graph& g, const layered_shape& shape, task_options options,
                   MakeBody&& make_body) {
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

/// Task i runs index i of the kernel; the type is the kernel's name. Chunks are the kernel's parts,
/// so members that come late take no work. The kernel must outlive the graph. `widths`: allowed
/// ones; empty: all.
void build_layered(graph& g, const layered_shape&, apps::kernel_instance&,
                   const width_list& widths = {});

/// A layered DAG and the kernel that its tasks run.
struct layered_work {
  std::string kernel = "matmul";
  std::uint32_t tile = 64, sweeps = 1;
  layered_shape shape;
};

inline constexpr std::uint64_t most_tasks = 100'000'000, most_tile = 8'192,
                               most_sort_keys = 1u << 26;

/// Tasks of S0's figures for the kernel (papers.md A1.3, E22): enough for a run of about a second
/// or more. Sort: ours.
[[nodiscard]] std::uint64_t default_tasks(std::string_view kernel);

/// For the simulator: a task is one run of the kernel, or as many as there are sweeps.
[[nodiscard]] task_graph build(graph&, const layered_work&, const sim::platform&,
                               body_runner* = nullptr);

}  // namespace kilter::lab
