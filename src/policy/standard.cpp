#include "policy/standard.hpp"

#include <algorithm>

#include "policy/search.hpp"

namespace kilter::standard {

ready_decision ready(const discipline& plan, core_id waker, view& v) {
  if (plan.queues.empty() || plan.deques_too) return ready_decision::wait_in(waker == no_core ? v.home() : waker);
  const core_id wanted = waker == no_core ? v.asker() : waker;
  queue_id q = 0;
  for (queue_id i = 0; i < plan.queues.size(); ++i)
    if (plan.queues[i].owner == wanted) q = i;
  return ready_decision::wait_in(q);
}

next_decision next(const discipline& plan, core_id worker, std::uint32_t attempt, const machine& m) {
  if (plan.queues.empty()) {
    if (attempt == 0) return {.what = next_decision::kind::take_from, .queue = worker};
    return {.what = attempt < m.core_count() ? next_decision::kind::steal : next_decision::kind::nothing};
  }
  const queue_id first = plan.deques_too ? m.core_count() : 0;
  std::uint32_t tried = 0;
  for (const int round : {0, 1, 2})
    for (queue_id i = 0; i < plan.queues.size(); ++i) {
      const queue_spec& q = plan.queues[i];
      const int rank = q.owner == worker ? 0 : q.owner == no_core ? 1 : 2;
      if (rank != round || (!q.takers.empty() && std::ranges::find(q.takers, worker) == q.takers.end())) continue;
      if (tried++ == attempt) return {.what = next_decision::kind::take_from, .queue = first + i};
    }
  return {};
}

take_decision take(task_ref task, core_id here, view& v) { return {.where = search::narrowest(v, task, here)}; }

}  // namespace kilter::standard
