#include "policy/labels_levels.hpp"

#include <algorithm>
#include <utility>

namespace kilter::labels {

namespace {

// While values are computed, a task's sixteen bytes hold its place in the batch (own, low half of
// a), a link to another task of the batch (high half of a; place + 1, 0: end) and how many
// predecessors are open (b).
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

/// Returns whether that was more than it had.
bool raise(view& v, task_ref t, std::uint64_t to) noexcept {
  const task_state s = v.state(t);
  if (s.b >= to) return false;
  v.set_state(t, {s.a, to});
  v.rekey(t, to);
  return true;
}

}  // namespace

/// Takes tasks off as their predecessors are all taken, and links them in reverse: the head of the
/// result is the last one taken, so every task comes after all of its successors.
std::uint32_t detail::order_backwards(view& v, std::uint32_t size) noexcept {
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

std::uint32_t detail::next_backwards(view& v, task_ref t) noexcept { return read(v, t).link; }

std::uint64_t compute_values(view& v, std::uint32_t size) noexcept {
  std::uint64_t largest = 0;
  backwards(v, size, [&](task_ref t) {
    std::uint64_t below = 0;
    each_successor(v, t, [&](task_ref next) { below = std::max(below, value(v, next)); });
    v.set_state(t, {0, below + 1});
    largest = std::max(largest, below + 1);
  });
  return largest;
}

void settle_batch(view& v) {
  const std::uint32_t size = v.batch_size();
  compute_values(v, size);
  if (size == 0 || v.batch_is_whole_graph()) return;
  const std::uint64_t first = v.id(v.batch_task(0));
  // The youngest on top: by the time a task is taken, all that could raise it have done so.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> raised;  // id, word
  const auto raise_those_before = [&](task_ref t) {
    const std::uint64_t to = value(v, t) + 1;
    each_predecessor(v, t, [&](task_ref before) {
      const std::uint64_t id = v.id(before);
      if (id >= first || !raise(v, before, to)) return;
      raised.emplace_back(id, v.word_of(before));
      std::ranges::push_heap(raised);
    });
  };
  for (std::uint32_t i = 0; i < size; ++i) raise_those_before(v.batch_task(i));
  while (!raised.empty()) {
    const auto [id, word] = raised.front();
    while (!raised.empty() && raised.front().first == id) {
      std::ranges::pop_heap(raised);
      raised.pop_back();
    }
    raise_those_before(v.task_of(word));
  }
}

void settle_each(view& v) {
  const std::uint32_t size = v.batch_size();
  for (std::uint32_t i = 0; i < size; ++i) v.set_state(v.batch_task(i), {0, 1});
  std::vector<std::uint64_t> raised;  // words
  for (std::uint32_t i = 0; i < size; ++i) {
    raised.push_back(v.word_of(v.batch_task(i)));
    while (!raised.empty()) {
      const task_ref t = v.task_of(raised.back());
      raised.pop_back();
      const std::uint64_t to = value(v, t) + 1;
      each_predecessor(v, t, [&](task_ref before) {
        if (raise(v, before, to)) raised.push_back(v.word_of(before));
      });
    }
  }
}

}  // namespace kilter::labels
