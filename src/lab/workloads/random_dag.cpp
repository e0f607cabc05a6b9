#include "lab/workloads/random_dag.hpp"

namespace kilter::lab {

std::vector<random_node> nodes_of(const random_dag& d) {
  return kilter::nodes_of({.kernels = static_cast<std::uint32_t>(d.kernels.size()), .tasks = d.tasks, .parallelism = d.parallelism, .edge_rate = d.edge_rate, .seed = d.seed});
}

task_graph build(graph& g, const random_dag& shape, const sim::platform&, body_runner* bodies) {
  task_graph made(g);
  std::vector<task_type> types;
  for (const random_dag::part& p : shape.kernels) types.push_back(made.type(g, p.kernel, {.kernel = p.kernel, .size = static_cast<double>(p.tile)}));
  std::vector<task> tasks;
  for (const random_node& node : nodes_of(shape)) {
    const task t = g.add({.type = types[node.kernel]}, body_of(bodies));
    for (const std::uint32_t parent : node.parents) g.edge(tasks[parent], t);
    tasks.push_back(t);
    made.slot.push_back(node.slot);
  }
  return made;
}

}  // namespace kilter::lab
