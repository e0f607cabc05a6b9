// Critical path on a processor (Topcuoglu, Hariri, Wu 2002, section 4.2: CPOP; papers.md A6.4)
//
//   A plan of the whole graph. All tasks of one critical path go to the processor that runs them
//   fastest, so that the path has no edge to pay for; the others go where they end first.
//
//   up(i) as HEFT's rank;  down(i) <- max over predecessors j (down(j) + w(j) + cost of the edge),
//   0 for an entry priority(i) <- up(i) + down(i);  |CP| <- the largest of an entry CP <- from that
//   entry on, each time the first successor whose priority is |CP| processor of CP <- the one with
//   the least sum of the path's seconds ready list, largest priority first:
//     a task of CP to its processor, another where it ends first; both with insertion
//   ties: lower index
//
//   How the plan is carried out: planned.hpp.

#include <algorithm>
#include <limits>
#include <queue>

#include "policy/builtin.hpp"
#include "policy/plan_parts.hpp"
#include "policy/planned.hpp"

namespace kilter {

namespace planner {

namespace {

/// Sums of the same path in another order differ in the last bits.
constexpr double same_path = 1.0 - 1e-9;

std::vector<std::uint32_t> critical_path(const plan_graph& graph,
                                         const std::vector<double>& priority) {
  std::vector<std::uint32_t> path;
  std::uint32_t at = plan::nowhere;
  for (std::uint32_t t = 0; t < priority.size(); ++t)
    if (graph.before(t).empty() && (at == plan::nowhere || priority[t] > priority[at])) at = t;
  if (at == plan::nowhere) return path;
  const double length = priority[at];
  while (at != plan::nowhere) {
    path.push_back(at);
    const auto next = std::ranges::find_if(
        graph.after(at), [&](const auto& n) { return priority[n.task] >= length * same_path; });
    at = next == graph.after(at).end() ? plan::nowhere : next->task;
  }
  return path;
}

std::uint32_t fastest_for(const plan_input& in, const std::vector<std::uint32_t>& path) {
  std::uint32_t best = plan::nowhere;
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t p = 0; p < in.processors; ++p) {
    double sum = 0.0;
    for (const std::uint32_t t : path) sum += in.seconds[std::size_t{t} * in.processors + p];
    if (sum >= least) continue;
    least = sum;
    best = p;
  }
  return best;
}

}  // namespace

plan cpop(const plan_input& in) {
  const plan_graph graph(in);
  scaled_ranks ranks = upward_ranks(in, graph);
  add_downward_ranks(ranks, in, graph);
  std::vector<double> priority(in.tasks);
  for (std::uint32_t t = 0; t < in.tasks; ++t) priority[t] = ranks.upward[t] + ranks.downward[t];

  placement placed(in, graph);
  plan& made = placed.made;
  made.critical_path = critical_path(graph, priority);
  made.critical_processor = fastest_for(in, made.critical_path);
  std::vector<bool> critical(in.tasks, false);
  for (const std::uint32_t t : made.critical_path)
    critical[t] = made.critical_processor != plan::nowhere;

  const auto later = [&](std::uint32_t a, std::uint32_t b) {
    return priority[a] != priority[b] ? priority[a] < priority[b] : a > b;
  };
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, decltype(later)> ready(later);
  std::vector<std::uint32_t> waits_for(in.tasks);
  for (std::uint32_t t = 0; t < in.tasks; ++t) {
    waits_for[t] = static_cast<std::uint32_t>(graph.before(t).size());
    if (waits_for[t] == 0) ready.push(t);
  }
  while (!ready.empty()) {
    const std::uint32_t t = ready.top();
    ready.pop();
    if (critical[t])
      placed.put_on(t, made.critical_processor);
    else
      placed.put(t);
    for (const auto& n : graph.after(t))
      if (--waits_for[n.task] == 0) ready.push(n.task);
  }
  for (std::vector<double>* r : {&ranks.upward, &ranks.downward})
    for (double& value : *r) value /= in.processors;
  made.upward_s = std::move(ranks.upward);
  made.downward_s = std::move(ranks.downward);
  return std::move(placed.made);
}

}  // namespace planner

builtin::made builtin::cpop(const machine&, const policy_options&) {
  return std::make_shared<planned_policy>("cpop", planner::cpop);
}

}  // namespace kilter
