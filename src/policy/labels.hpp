#pragma once
// Where the critical flag comes from (S2, section 3.1; facts A3.1, E5, E6, E57).
//
//   value(task) = 1 + the largest value of its successors; sinks have 1
//   chain:         the first root whose value is the largest; then, again and again, the first successor with the next lower value
//   diff1:         when a task is done, a successor whose value is exactly one less than its own is critical
//   chain-closed:  every task on any longest path: value one less than that of a parent which is itself critical, from the
//                  roots of the largest value on
//
// Values need the whole graph. Tasks that are added while it runs keep the priority that the user gave them.

#include "kilter/policy.hpp"

namespace kilter::labels {

/// What a source needs to be asked.
[[nodiscard]] constexpr bool needs_submit(criticality source) noexcept { return source != criticality::user; }
/// True if a task's flag is only known when it becomes ready.
[[nodiscard]] constexpr bool needs_ready(criticality source) noexcept { return source == criticality::diff1; }

/// Question 1: puts each task's value into `task_state::b` and sets the flags that can be known now.
/// O(tasks + edges), without allocation.
void on_submit(criticality, view&) noexcept;

/// Question 2, before anything else is decided: sets the flag of a diff1 task.
void on_ready(criticality, task_ref task, task_ref parent, view&) noexcept;

/// The task's value; 0 if it was added while the graph ran.
[[nodiscard]] std::uint64_t value(view&, task_ref) noexcept;

}  // namespace kilter::labels
