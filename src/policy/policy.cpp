// What a policy does that answers a question in the standard way. Engines do the same without asking; they ask all the same when
// they record, so that every decision is on the tape.

#include "kilter/policy.hpp"

#include "policy/search.hpp"

namespace kilter {

ready_decision policy::on_ready(task_ref, task_ref, core_id waker, view& v) const {
  return ready_decision::wait_in(waker == no_core ? v.home() : waker);
}

next_decision policy::next(core_id worker, std::uint32_t attempt, view& v) const {
  next_decision d;
  if (attempt == 0) {
    d.what = next_decision::kind::take_from;
    d.queue = worker;
  } else if (attempt < v.machine().core_count()) {
    d.what = next_decision::kind::steal;
  }
  return d;
}

take_decision policy::on_take(task_ref task, core_id here, bool, view& v) const {
  return {.where = search::narrowest(v, task, here)};
}

}  // namespace kilter
