#include "policy/standard.hpp"

#include <algorithm>

#include "policy/routing.hpp"
#include "policy/search.hpp"

namespace kilter::standard {

ready_decision ready(const discipline& plan, core_id waker, view& v) {
  if (routing::has_deques(plan))
    return ready_decision::wait_in(waker == no_core ? v.home() : waker);
  return ready_decision::wait_in(routing::queue_of(plan, waker == no_core ? v.asker() : waker));
}

next_decision next(const discipline& plan, core_id worker, std::uint32_t attempt,
                   const machine& m) {
  if (plan.queues.empty()) {
    if (attempt == 0) return {.what = next_decision::kind::take_from, .queue = worker};
    return {.what = attempt < m.core_count() ? next_decision::kind::steal
                                             : next_decision::kind::nothing};
  }
  const queue_id first = routing::first_declared(plan, m);
  std::uint32_t tried = 0;
  for (const int round : {0, 1, 2})
    for (queue_id i = 0; i < plan.queues.size(); ++i) {
      const queue_spec& q = plan.queues[i];
      if (routing::rank_of_queue(q.owner, worker) != round ||
          (!q.takers.empty() && std::ranges::find(q.takers, worker) == q.takers.end()))
        continue;
      if (tried++ == attempt) return {.what = next_decision::kind::take_from, .queue = first + i};
    }
  return {};
}

take_decision take(task_ref task, core_id here, view& v) {
  return {.where = search::narrowest(v, task, here)};
}

}  // namespace kilter::standard
