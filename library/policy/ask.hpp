#pragma once
// How engines put the questions: through these functions, so that a recording run and a replay see
// the same sequence. Without a tape each is the bare virtual call.
//
// On a tape a question is its asker and its arguments, then what the policy read and wrote, then
// the answer, then the seal:
//   ready 0 asker, ready 1 task, ready 2 parent, ready 3 waker, time (..) .., answer 0 .., answer 1
//   .., seal

#include "kilter/policy.hpp"
#include "policy/asking.hpp"

namespace kilter::ask {

namespace recorded {
void submit(const policy&, view&);
ready_decision ready(const policy&, task_ref task, task_ref parent, core_id waker, view&);
next_decision next(const policy&, core_id worker, std::uint32_t attempt, view&);
take_decision take(const policy&, task_ref task, core_id here, bool stolen, view&);
void done(const policy&, task_ref task, place_id place, const measured&, view&);
void machine(const policy&, view&);
}  // namespace recorded

inline void submit(const policy& p, view& v) {
  if (detail::asking::of(v).log()) [[unlikely]]
    return recorded::submit(p, v);
  p.on_submit(v);
}
inline ready_decision ready(const policy& p, task_ref task, task_ref parent, core_id waker,
                            view& v) {
  if (detail::asking::of(v).log()) [[unlikely]]
    return recorded::ready(p, task, parent, waker, v);
  return p.on_ready(task, parent, waker, v);
}
inline next_decision next(const policy& p, core_id worker, std::uint32_t attempt, view& v) {
  if (detail::asking::of(v).log()) [[unlikely]]
    return recorded::next(p, worker, attempt, v);
  return p.next(worker, attempt, v);
}
inline take_decision take(const policy& p, task_ref task, core_id here, bool stolen, view& v) {
  if (detail::asking::of(v).log()) [[unlikely]]
    return recorded::take(p, task, here, stolen, v);
  return p.on_take(task, here, stolen, v);
}
inline void done(const policy& p, task_ref task, place_id place, const measured& m, view& v) {
  if (detail::asking::of(v).log()) [[unlikely]]
    return recorded::done(p, task, place, m, v);
  p.on_done(task, place, m, v);
}
inline void machine(const policy& p, view& v) {
  if (detail::asking::of(v).log()) [[unlikely]]
    return recorded::machine(p, v);
  p.on_machine(v);
}

/// Puts every recorded question to the policy again, with the recorded values, and compares every
/// answer and write. Returns the number of answers compared; throws replay_mismatch at the first
/// difference.
std::size_t replay(const policy&, const kilter::machine&, const std::vector<tape_entry>&);

}  // namespace kilter::ask
