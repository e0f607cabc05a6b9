// Longest paths of what is known so far (beyond S2; papers.md S2, D18, E57)
//
//   S2 needs the whole graph and leaves roots out. Here a batch is what comes together: a submitted
//   graph, or what a running task adds.
//
//   submit:  value(task) within its batch; tasks of the batch's largest value are its heads:
//   nothing in it comes before them ready:   a head is critical if the task that added it is, or if
//   it was submitted
//            another is critical if a critical task before it has a value exactly one more
//
// On a graph that is submitted whole this flags what chain-closed flags. Whether a task was
// critical is remembered in its sixteen bytes, since its flag is the user's again once it is done.

#include "policy/labels.hpp"
#include "policy/labels_levels.hpp"

namespace kilter::labels {

namespace {

constexpr std::uint64_t was_critical = 1, is_head = 2, waits = 4;  // bits of task_state::a

void add_bits(view& v, task_ref t, std::uint64_t bits) noexcept {
  const task_state s = v.state(t);
  if ((s.a & bits) != bits) v.set_state(t, {s.a | bits, s.b});
}

bool leads_to(view& v, task_ref before, std::uint64_t to) noexcept {
  const task_state s = v.state(before);
  return (s.a & was_critical) && s.b == to + 1;
}

bool critical_before(task_ref task, task_ref parent, std::uint64_t own, view& v) noexcept {
  if (parent && leads_to(v, parent, own)) return true;
  const std::uint32_t count = v.predecessor_count(task);
  for (std::uint32_t i = 0; i < count; ++i)
    if (leads_to(v, v.predecessor(task, i), own)) return true;
  return false;
}

}  // namespace

void online_on_submit(view& v) noexcept {
  const std::uint32_t size = v.batch_size();
  const std::uint64_t largest = compute_values(v, size);
  for (std::uint32_t i = 0; i < size; ++i) {
    const task_ref t = v.batch_task(i);
    if (value(v, t) == largest) add_bits(v, t, is_head);
    each_successor(v, t, [&](task_ref next) { add_bits(v, next, waits); });
  }
}

bool online_critical(task_ref task, task_ref parent, view& v) noexcept {
  const task_state own = v.state(task);
  bool critical = false;
  if (own.a & is_head)
    critical = !parent || (v.state(parent).a & was_critical) != 0;
  else if (own.a & waits)
    critical = critical_before(task, parent, own.b, v);
  if (critical) add_bits(v, task, was_critical);
  return critical;
}

}  // namespace kilter::labels
