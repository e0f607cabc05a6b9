// Longest paths of a whole graph, from its values: one of them, or all.

#include "policy/labels.hpp"
#include "policy/labels_levels.hpp"

namespace kilter::labels {

namespace {

/// The first successor whose value is one less; empty at a sink.
task_ref next_of_chain(view& v, task_ref t, std::uint64_t level) noexcept {
  const std::uint32_t count = v.successor_count(t);
  for (std::uint32_t i = 0; i < count; ++i)
    if (const task_ref next = v.successor(t, i); v.state(next).b + 1 == level) return next;
  return {};
}

}  // namespace

// A task of the largest value can have no predecessor: that one's value would be larger still.
void mark_one_chain(view& v, std::uint32_t size, std::uint64_t largest) noexcept {
  for (std::uint32_t i = 0; i < size; ++i) {
    task_ref t = v.batch_task(i);
    if (v.state(t).b != largest) continue;
    for (std::uint64_t level = largest; t; --level) {
      v.set_critical(t, true);
      t = next_of_chain(v, t, level);
    }
    return;
  }
}

// Depth first from every root of the largest value; a links the tasks that are marked and not yet followed.
void mark_all_chains(view& v, std::uint32_t size, std::uint64_t largest) noexcept {
  for (std::uint32_t i = 0; i < size; ++i) {
    const task_ref t = v.batch_task(i);
    v.set_state(t, {std::uint64_t{i}, v.state(t).b});
  }
  std::uint32_t waiting = 0;
  const auto mark = [&](task_ref t) {
    if (v.critical(t)) return;
    v.set_critical(t, true);
    const task_state s = v.state(t);
    v.set_state(t, {std::uint64_t{waiting} << 32 | (s.a & low_half), s.b});
    waiting = static_cast<std::uint32_t>(s.a & low_half) + 1;
  };
  for (std::uint32_t i = 0; i < size; ++i)
    if (v.state(v.batch_task(i)).b == largest) mark(v.batch_task(i));
  while (waiting != 0) {
    const task_ref t = v.batch_task(waiting - 1);
    const task_state s = v.state(t);
    waiting = static_cast<std::uint32_t>(s.a >> 32);
    each_successor(v, t, [&](task_ref next) {
      if (v.state(next).b + 1 == s.b) mark(next);
    });
  }
}

}  // namespace kilter::labels
