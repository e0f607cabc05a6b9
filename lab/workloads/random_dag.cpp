#include "workloads/random_dag.hpp"

#include <algorithm>

namespace kilter::lab {

std::vector<random_node> nodes_of(const random_dag& d) {
  return kilter::nodes_of({.kernels = static_cast<std::uint32_t>(d.kernels.size()),
                           .tasks = d.tasks,
                           .parallelism = d.parallelism,
                           .edge_rate = d.edge_rate,
                           .seed = d.seed});
}

task_graph build(graph& g, const random_dag& shape, const sim::platform&, body_runner* bodies) {
  task_graph made(g);
  std::vector<task_type> types;
  for (const random_dag::part& p : shape.kernels)
    types.push_back(
        made.type(g, p.kernel, {.kernel = p.kernel, .size = static_cast<double>(p.tile)}));
  std::vector<task> tasks;
  for (const random_node& node : nodes_of(shape)) {
    const task t = g.add({.type = types[node.kernel]}, body_of(bodies));
    for (const std::uint32_t parent : node.parents) g.edge(tasks[parent], t);
    tasks.push_back(t);
    made.data.push_back({.read = node.slot, .written = node.slot});
  }
  return made;
}

native_kernels build_native(graph& g, const random_dag& shape, const machine& m) {
  native_kernels kernels;
  std::vector<task_type> types;
  for (const random_dag::part& p : shape.kernels) {
    types.push_back(g.type(p.kernel));
    kernels.of_type.resize(types.back().index() + 1u, no_kernel);
    kernels.of_type.back() = kernels.all.size();
    kernels.all.push_back(
        apps::make_kernel(p.kernel, p.tile, {.concurrency = std::max(16u, 4 * m.core_count())}));
  }
  std::vector<task> tasks;
  for (const random_node& node : nodes_of(shape)) {
    const task t =
        g.add({.type = types[node.kernel]}, kernel_body(*kernels.all[node.kernel], node.slot));
    for (const std::uint32_t parent : node.parents) g.edge(tasks[parent], t);
    tasks.push_back(t);
  }
  return kernels;
}

}  // namespace kilter::lab
