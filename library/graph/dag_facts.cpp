#include "graph/dag_facts.hpp"

#include <algorithm>

namespace kilter {

dag_facts facts_of(const dag& g) {
  const std::size_t n = g.tasks.size();
  dag_facts f;
  f.tasks = n;
  f.edges = g.edges.size();
  f.level.assign(n, 0);
  f.tasks_of_type.assign(g.types.size(), 0);
  f.seconds_of_type.assign(g.types.size(), 0.0);

  // Edges come by ascending start, and starts before ends, so one pass over them finishes every
  // task before it is left.
  std::vector<double> start_s(n, 0.0), start_with_edges_s(n, 0.0);
  std::vector<bool> has_before(n), has_after(n);
  for (const dag::edge& e : g.edges) {
    f.level[e.to] = std::max(f.level[e.to], f.level[e.from] + 1);
    start_s[e.to] = std::max(start_s[e.to], start_s[e.from] + g.tasks[e.from].seconds);
    start_with_edges_s[e.to] = std::max(
        start_with_edges_s[e.to], start_with_edges_s[e.from] + g.tasks[e.from].seconds + e.cost_s);
    has_before[e.to] = has_after[e.from] = true;
    f.edges_s += e.cost_s;
    f.bytes += e.bytes;
  }
  std::vector<std::uint32_t> height(n, 0);
  for (auto e = g.edges.rbegin(); e != g.edges.rend(); ++e)
    height[e->from] = std::max(height[e->from], height[e->to] + 1);

  for (std::size_t t = 0; t < n; ++t) {
    const dag::task& task = g.tasks[t];
    f.work_s += task.seconds;
    f.path_s = std::max(f.path_s, start_s[t] + task.seconds);
    f.path_with_edges_s = std::max(f.path_with_edges_s, start_with_edges_s[t] + task.seconds);
    f.path_tasks = std::max<std::uint64_t>(f.path_tasks, f.level[t] + 1);
    f.roots += !has_before[t];
    f.sinks += !has_after[t];
    f.high += task.priority == priority::high;
    f.timeless += task.seconds == 0.0 && g.types[task.type].kernel.empty();
    ++f.tasks_of_type[task.type];
    f.seconds_of_type[task.type] += task.seconds;
  }
  f.widths.assign(f.path_tasks, 0);
  for (std::size_t t = 0; t < n; ++t) {
    ++f.widths[f.level[t]];
    f.critical += f.level[t] + height[t] + 1 == f.path_tasks;
  }
  return f;
}

}  // namespace kilter
