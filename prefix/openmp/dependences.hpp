#pragma once
// Tasks that name what they use (`depend`): each waits for those of its siblings that were made
// before it and use the same, unless both only read, or both write together.

#include "openmp/tasks.hpp"

namespace kilter::regions {

/// What a task uses. An address of null with `writes` is everything. `together`: it writes, and at
/// the same time as others that say so (inoutset).
struct use {
  const void* what = nullptr;
  bool writes = false, together = false;
};

/// Submits a task with those uses. visit(f) calls f(use) for each.
template <class Visit>
void submit_in_order(member&, task&, const Visit&) noexcept;
/// Until a task with those uses could run that the member's task made now.
template <class Visit>
void wait_in_order(member&, const Visit&) noexcept;

/// The task is over: those that waited for it may go on. `by` as for make_ready.
void end_order(team&, const member* by, dependent&) noexcept;
/// All children of a task are over; `for_good`: it is over itself.
void forget_children(const member* by, task&, bool for_good) noexcept;

// ---- what the templates are made of

/// All that it waits for is known; true: that is nothing (any more).
[[nodiscard]] bool may_begin(dependent&) noexcept;
[[nodiscard]] dependent* begin_order(member&, task*) noexcept;
void put_in_order(member&, dependent&, const use&) noexcept;
void look_at_order(member&, dependent&, const use&) noexcept;
void wait_until_first(member&, dependent&) noexcept;

template <class Visit>
void submit_in_order(member& m, task& t, const Visit& visit) noexcept {
  dependent* const order = begin_order(m, &t);
  visit([&](const use& u) { put_in_order(m, *order, u); });
  submit(m, t, order);
}

template <class Visit>
void wait_in_order(member& m, const Visit& visit) noexcept {
  if (!m.doing->of_children) return;
  dependent* const order = begin_order(m, nullptr);
  visit([&](const use& u) { look_at_order(m, *order, u); });
  wait_until_first(m, *order);
}

}  // namespace kilter::regions
