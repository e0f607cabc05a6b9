#pragma once
// What is done where a policy says nothing, as answers: engines do the same without asking. Here
// for a policy that is asked all the same, and for what is left of a run whose policy is asked no
// more.

#include "kilter/policy.hpp"

namespace kilter::standard {

/// The waker's own deque, or home; with declared queues alone the waker's (or the asker's) queue,
/// else the first.
[[nodiscard]] ready_decision ready(const discipline&, core_id waker, view&);
/// Own deque, then steal. With declared queues: those that the worker may take from, its own first,
/// then shared ones, then those of others.
[[nodiscard]] next_decision next(const discipline&, core_id worker, std::uint32_t attempt,
                                 const machine&);
/// Width 1 on the taker, or the narrowest place around it that the task allows.
[[nodiscard]] take_decision take(task_ref, core_id here, view&);

}  // namespace kilter::standard
