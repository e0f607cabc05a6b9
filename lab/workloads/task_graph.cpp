#include "workloads/task_graph.hpp"

#include <algorithm>
#include <utility>

#include "graph/node.hpp"

namespace kilter::lab {

task_type task_graph::type(graph& g, std::string_view name, sim::type_work what) {
  const task_type t = g.type(name);
  if (types.size() <= t.index()) types.resize(t.index() + 1);
  types[t.index()] = std::move(what);
  return t;
}

graph_length measure(graph& g, const std::function<double(const task_facts&)>& work_of,
                     const std::function<double(const task_facts&)>& seconds_of) {
  const auto& core = kilter::detail::graph_access::core(g);
  struct reached {
    double begin_s = 0.0;
    std::uint64_t tasks = 0;
  };
  std::vector<reached> at(core.count);
  graph_length all;
  core.for_each_node([&](const kilter::detail::node* n) {
    const kilter::detail::cold_data* own = kilter::detail::cold_of(n);
    const task_facts facts{core.kinds[n->kind].type, own && own->work > 0.0 ? own->work : 1.0};
    const reached& here = at[kilter::detail::id_of(n)];
    const double end_s = here.begin_s + seconds_of(facts);
    const std::uint64_t tasks = here.tasks + 1;
    all.work_s += work_of(facts);
    if (end_s > all.path_s) {
      all.path_s = end_s;
      all.path_tasks = tasks;
    }
    kilter::detail::for_each_successor(n, [&](const kilter::detail::node* next, double) {
      reached& then = at[kilter::detail::id_of(next)];
      if (end_s > then.begin_s) then = {end_s, tasks};
    });
  });
  return all;
}

}  // namespace kilter::lab
