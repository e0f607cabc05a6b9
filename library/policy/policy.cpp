// What a policy does that answers a question in the standard way. Engines do the same without
// asking; they ask all the same when they record, so that every decision is on the tape.

#include "kilter/policy.hpp"

#include "policy/standard.hpp"

namespace kilter {

ready_decision policy::on_ready(task_ref, task_ref, core_id waker, view& v) const {
  return standard::ready(queues(v.machine()), waker, v);
}

next_decision policy::next(core_id worker, std::uint32_t attempt, view& v) const {
  return standard::next(queues(v.machine()), worker, attempt, v.machine());
}

take_decision policy::on_take(task_ref task, core_id here, bool, view& v) const {
  return standard::take(task, here, v);
}

}  // namespace kilter
