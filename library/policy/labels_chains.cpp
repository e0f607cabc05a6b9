// Longest paths of a whole graph, from its values: one of them, or all.

#include "policy/labels.hpp"
#include "policy/labels_levels.hpp"

namespace kilter::labels {

namespace {

/// A task's bytes while all chains are marked: b is its value, a is next << 32 | place.
struct chain_link {
  std::uint32_t place = 0;  ///< in the batch
  std::uint32_t next = 0;   ///< the task that is followed after it, as place + 1; 0: none
  std::uint64_t value = 0;

  static chain_link of(const task_state& s) noexcept {
    return {static_cast<std::uint32_t>(s.a & low_half), static_cast<std::uint32_t>(s.a >> 32), s.b};
  }
  [[nodiscard]] task_state packed() const noexcept {
    return {std::uint64_t{next} << 32 | place, value};
  }
};

/// The first successor whose value is one less; empty at a sink.
task_ref next_of_chain(view& v, task_ref t, std::uint64_t level) noexcept {
  const std::uint32_t count = v.successor_count(t);
  for (std::uint32_t i = 0; i < count; ++i)
    if (const task_ref next = v.successor(t, i); value(v, next) + 1 == level) return next;
  return {};
}

}  // namespace

// A task of the largest value can have no predecessor: that one's value would be larger still.
void mark_one_chain(view& v, std::uint32_t size, std::uint64_t largest) noexcept {
  for (std::uint32_t i = 0; i < size; ++i) {
    task_ref t = v.batch_task(i);
    if (value(v, t) != largest) continue;
    for (std::uint64_t level = largest; t; --level) {
      v.set_critical(t, true);
      t = next_of_chain(v, t, level);
    }
    return;
  }
}

// Depth first from every root of the largest value; the links hold the tasks that are marked and
// not yet followed.
void mark_all_chains(view& v, std::uint32_t size, std::uint64_t largest) noexcept {
  for (std::uint32_t i = 0; i < size; ++i) {
    const task_ref t = v.batch_task(i);
    v.set_state(t, chain_link{.place = i, .value = value(v, t)}.packed());
  }
  std::uint32_t waiting = 0;
  const auto mark = [&](task_ref t) {
    if (v.critical(t)) return;
    v.set_critical(t, true);
    chain_link link = chain_link::of(v.state(t));
    link.next = waiting;
    v.set_state(t, link.packed());
    waiting = link.place + 1;
  };
  for (std::uint32_t i = 0; i < size; ++i)
    if (value(v, v.batch_task(i)) == largest) mark(v.batch_task(i));
  while (waiting != 0) {
    const task_ref t = v.batch_task(waiting - 1);
    const chain_link link = chain_link::of(v.state(t));
    waiting = link.next;
    each_successor(v, t, [&](task_ref next) {
      if (value(v, next) + 1 == link.value) mark(next);
    });
  }
}

}  // namespace kilter::labels
