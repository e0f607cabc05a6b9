#include "policy/labels.hpp"

namespace kilter::labels {

namespace {

// While values are computed, a task's sixteen bytes hold its place in the batch (own, low half of a), a link to another task of the
// batch (high half of a; place + 1, 0: end) and how many predecessors are open (b).
constexpr std::uint64_t low_half = 0xffffffff;

struct working {
  std::uint32_t own = 0, link = 0;
  std::uint64_t open = 0;
};

working read(view& v, task_ref t) noexcept {
  const task_state s = v.state(t);
  return {static_cast<std::uint32_t>(s.a & low_half), static_cast<std::uint32_t>(s.a >> 32), s.b};
}
void write(view& v, task_ref t, const working& w) noexcept {
  v.set_state(t, {std::uint64_t{w.link} << 32 | w.own, w.open});
}

template <class Visit>
void each_successor(view& v, task_ref t, Visit&& visit) noexcept {
  const std::uint32_t count = v.successor_count(t);
  for (std::uint32_t i = 0; i < count; ++i) visit(v.successor(t, i));
}

/// Takes tasks off as their predecessors are all taken, and links them in reverse: the head of the result is the last one taken, so
/// every task comes after all of its successors.
std::uint32_t order_backwards(view& v, std::uint32_t size) noexcept {
  for (std::uint32_t i = 0; i < size; ++i) write(v, v.batch_task(i), {i, 0, 0});
  for (std::uint32_t i = 0; i < size; ++i)
    each_successor(v, v.batch_task(i), [&](task_ref next) {
      working w = read(v, next);
      ++w.open;
      write(v, next, w);
    });
  std::uint32_t waiting = 0, done = 0;
  for (std::uint32_t i = size; i-- > 0;) {
    working w = read(v, v.batch_task(i));
    if (w.open != 0) continue;
    w.link = waiting;
    write(v, v.batch_task(i), w);
    waiting = i + 1;
  }
  while (waiting != 0) {
    const std::uint32_t at = waiting - 1;
    const task_ref t = v.batch_task(at);
    working w = read(v, t);
    waiting = w.link;
    w.link = done;
    write(v, t, w);
    done = at + 1;
    each_successor(v, t, [&](task_ref next) {
      working n = read(v, next);
      if (--n.open == 0) {
        n.link = waiting;
        waiting = n.own + 1;
      }
      write(v, next, n);
    });
  }
  return done;
}

/// Leaves each task's value in b and 0 in a; returns the largest value.
std::uint64_t compute_values(view& v, std::uint32_t size) noexcept {
  std::uint64_t largest = 0;
  for (std::uint32_t at = order_backwards(v, size); at != 0;) {
    const task_ref t = v.batch_task(at - 1);
    at = read(v, t).link;
    std::uint64_t below = 0;
    each_successor(v, t, [&](task_ref next) {
      const std::uint64_t b = v.state(next).b;
      if (b > below) below = b;
    });
    v.set_state(t, {0, below + 1});
    if (below + 1 > largest) largest = below + 1;
  }
  return largest;
}

/// The first successor whose value is one less; empty at a sink.
task_ref next_of_chain(view& v, task_ref t, std::uint64_t level) noexcept {
  const std::uint32_t count = v.successor_count(t);
  for (std::uint32_t i = 0; i < count; ++i)
    if (const task_ref next = v.successor(t, i); v.state(next).b + 1 == level) return next;
  return {};
}

/// A task of the largest value can have no predecessor: that one's value would be larger still.
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

/// Depth first from every root of the largest value; a links the tasks that are marked and not yet followed.
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

}  // namespace

void on_submit(criticality source, view& v) noexcept {
  if (source == criticality::user || !v.batch_is_whole_graph()) return;
  const std::uint32_t size = v.batch_size();
  const std::uint64_t largest = compute_values(v, size);
  for (std::uint32_t i = 0; i < size; ++i) v.set_critical(v.batch_task(i), false);
  if (source == criticality::chain) mark_one_chain(v, size, largest);
  if (source == criticality::chain_closed) mark_all_chains(v, size, largest);
}

void on_ready(criticality source, task_ref task, task_ref parent, view& v) noexcept {
  if (source != criticality::diff1) return;
  const std::uint64_t own = value(v, task);
  if (own == 0) return;
  v.set_critical(task, parent && value(v, parent) == own + 1);
}

std::uint64_t value(view& v, task_ref t) noexcept { return v.state(t).b; }

}  // namespace kilter::labels
