#pragma once
// The pending events: at most one a slot. The next is the one of the least time, then of the lowest
// slot.

#include <cstdint>
#include <vector>

#include "sim/time.hpp"

namespace kilter::sim {

class event_queue {
 public:
  using slot = std::uint32_t;

  explicit event_queue(std::uint32_t slots) : position_(slots, absent) { heap_.reserve(slots); }

  [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
  [[nodiscard]] slot first() const noexcept { return heap_.front().who; }
  [[nodiscard]] sim_time time_of(slot s) const noexcept {
    return position_[s] == absent ? never : heap_[position_[s]].when;
  }

  /// The first slot's event happens. Most slots get their next one while it does, which then costs
  /// one way through the heap instead of two. Until `happened` time_of() gives the slot its old
  /// time, and nothing else is taken.
  [[nodiscard]] slot take() noexcept { return taken_ = first(); }
  void happened() noexcept {
    if (taken_ != absent) set(taken_, never);
  }

  /// Sets, moves or (with `never`) removes the slot's event.
  void set(slot s, sim_time t) noexcept {
    if (s == taken_) taken_ = absent;
    const std::uint32_t at = position_[s];
    if (at == absent) {
      if (t == never) return;
      heap_.emplace_back();
      rise(static_cast<std::uint32_t>(heap_.size() - 1), {t, s});
    } else if (t == never) {
      remove(at);
    } else if (t < heap_[at].when) {
      rise(at, {t, s});
    } else if (t > heap_[at].when) {
      sink(at, {t, s});
    }
  }

 private:
  static constexpr std::uint32_t absent = ~0u, arity = 4;

  struct event {
    sim_time when = never;
    slot who = absent;
    [[nodiscard]] bool before(const event& other) const noexcept {
      return when != other.when ? when < other.when : who < other.who;
    }
  };

  void put(std::uint32_t at, const event& e) noexcept {
    heap_[at] = e;
    position_[e.who] = at;
  }
  // From a place that is free for it.
  void rise(std::uint32_t at, const event& e) noexcept {
    while (at > 0) {
      const std::uint32_t parent = (at - 1) / arity;
      if (!e.before(heap_[parent])) break;
      put(at, heap_[parent]);
      at = parent;
    }
    put(at, e);
  }
  void sink(std::uint32_t at, const event& e) noexcept {
    const auto size = static_cast<std::uint32_t>(heap_.size());
    for (;;) {
      const std::uint32_t first_child = at * arity + 1;
      if (first_child >= size) break;
      std::uint32_t least = first_child;
      for (std::uint32_t c = first_child + 1; c < first_child + arity && c < size; ++c)
        if (heap_[c].before(heap_[least])) least = c;
      if (!heap_[least].before(e)) break;
      put(at, heap_[least]);
      at = least;
    }
    put(at, e);
  }
  void remove(std::uint32_t at) noexcept {
    const event last = heap_.back();
    position_[heap_[at].who] = absent;
    heap_.pop_back();
    if (at == heap_.size()) return;
    rise(at, last);
    sink(position_[last.who], last);
  }

  std::vector<std::uint32_t> position_;  // in the heap, by slot
  std::vector<event> heap_;
  slot taken_ = absent;
};

}  // namespace kilter::sim
