// Heterogeneous earliest finish time (Topcuoglu, Hariri, Wu 2002, section 4.1: HEFT; papers.md
// A6.3)
//
//   A plan of the whole graph. Who has most of the graph still behind it is placed first, each on
//   the processor where it ends first, in a gap between tasks already placed if there is one.
//
//   w(i) <- mean of the task's seconds over the processors
//   rank(i) <- w(i) + max over successors j (cost of the edge + rank(j))
//   for each task by falling rank:
//     for each processor:
//       ready <- max over predecessors (its end + cost of the edge, 0 on the same processor)
//       start <- the earliest gap from `ready` on that is long enough
//     take the processor where start + seconds is least
//   ties: lower index
//
//   How the plan is carried out: planned.hpp.

#include <algorithm>
#include <utility>

#include "policy/builtin.hpp"
#include "policy/plan_parts.hpp"
#include "policy/planned.hpp"

namespace kilter {

planner::plan planner::heft(const plan_input& in) {
  const plan_graph graph(in);
  scaled_ranks ranks = upward_ranks(in, graph);
  // Of equal ranks one can follow the other along an edge only if it takes nothing; the order of
  // the edges holds then too.
  std::vector<std::pair<double, std::uint32_t>> by_rank;
  for (std::uint32_t i = 0; i < in.tasks; ++i)
    by_rank.emplace_back(-ranks.upward[graph.order()[i]], i);
  std::ranges::sort(by_rank);
  placement placed(in, graph);
  for (const auto& [rank, i] : by_rank) placed.put(graph.order()[i]);
  for (double& r : ranks.upward) r /= in.processors;
  placed.made.upward_s = std::move(ranks.upward);
  return std::move(placed.made);
}

builtin::made builtin::heft(const machine&, const policy_options&) {
  return std::make_shared<planned_policy>("heft", planner::heft);
}

}  // namespace kilter
