#pragma once
// Values of tasks: how far it is from each to the end of what is known of the graph, in tasks
// (papers.md S2, section 3.1; CATS' bottom level + 1).
//
//   value(task) = 1 + the largest value of its successors; a task without successors has 1
//
// A value is kept in `task_state::b`. Edges of added tasks run from older tasks to younger ones.

#include "kilter/policy.hpp"

namespace kilter::labels {

/// Of a word that holds two numbers.
constexpr std::uint64_t low_half = 0xffffffff;

template <class Visit>
void each_successor(view& v, task_ref t, Visit&& visit) noexcept {
  const std::uint32_t count = v.successor_count(t);
  for (std::uint32_t i = 0; i < count; ++i) visit(v.successor(t, i));
}

template <class Visit>
void each_predecessor(view& v, task_ref t, Visit&& visit) noexcept {
  const std::uint32_t count = v.predecessor_count(t);
  for (std::uint32_t i = 0; i < count; ++i) visit(v.predecessor(t, i));
}

/// Takes the tasks of the batch in an order in which each comes after all of its successors:
/// `visit(task)`. The order is kept in the tasks' sixteen bytes, so `visit` may set those of the
/// task that it is given. O(tasks + edges), without allocation.
template <class Visit>
void backwards(view&, std::uint32_t size, Visit&& visit) noexcept;

/// Values of the batch's tasks alone, from their successors: the whole graph, or what a running
/// task adds, which nothing older waits for. Returns the largest. Leaves 0 in `task_state::a`.
/// O(tasks + edges), without allocation.
std::uint64_t compute_values(view&, std::uint32_t size) noexcept;

/// The same, and then the values of older tasks that the batch's tasks wait for, upwards, each
/// settled once, youngest first. Who waits in a sorted queue gets its new value as its key. Needs
/// discipline::reads_predecessors.
void settle_batch(view&);

/// What CATS does by default: task by task in the order of creation, each raising all above it at
/// once. Gives the same values; on a chain of n tasks it takes n^2 / 2 steps. Needs
/// discipline::reads_predecessors.
void settle_each(view&);

/// The task's value; 0 if it has none.
[[nodiscard]] inline std::uint64_t value(view& v, task_ref t) noexcept { return v.state(t).b; }
/// CATS' bottom level: hops to the end.
[[nodiscard]] inline std::uint64_t bottom_level(view& v, task_ref t) noexcept {
  const std::uint64_t own = value(v, t);
  return own == 0 ? 0 : own - 1;
}

// ---- the order ----------------------------------------------------------------------------------

namespace detail {
/// The head of the list, as place in the batch + 1; 0 if the batch is empty.
std::uint32_t order_backwards(view&, std::uint32_t size) noexcept;
/// The one after this task.
std::uint32_t next_backwards(view&, task_ref) noexcept;
}  // namespace detail

template <class Visit>
void backwards(view& v, std::uint32_t size, Visit&& visit) noexcept {
  for (std::uint32_t at = detail::order_backwards(v, size); at != 0;) {
    const task_ref t = v.batch_task(at - 1);
    at = detail::next_backwards(v, t);
    visit(t);
  }
}

}  // namespace kilter::labels
