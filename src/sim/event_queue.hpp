#pragma once
// The pending events: at most one a slot. The next is the one of the least time, then of the lowest slot.

#include <cstdint>
#include <vector>

#include "sim/time.hpp"

namespace kilter::sim {

class event_queue {
 public:
  using slot = std::uint32_t;

  explicit event_queue(std::uint32_t slots) : times_(slots, never), position_(slots, absent) { heap_.reserve(slots); }

  [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
  [[nodiscard]] slot first() const noexcept { return heap_.front(); }
  [[nodiscard]] sim_time time_of(slot s) const noexcept { return times_[s]; }

  /// The first slot's event happens. Most slots get their next one while it does, which then costs one way through the heap instead of two. Until
  /// `happened` time_of() gives the slot its old time, and nothing else is taken.
  [[nodiscard]] slot take() noexcept { return taken_ = heap_.front(); }
  void happened() noexcept {
    if (taken_ != absent) set(taken_, never);
  }

  /// Sets, moves or (with `never`) removes the slot's event.
  void set(slot s, sim_time t) noexcept {
    if (s == taken_) taken_ = absent;
    const sim_time before = times_[s];
    times_[s] = t;
    std::uint32_t at = position_[s];
    if (at == absent) {
      if (t == never) return;
      at = static_cast<std::uint32_t>(heap_.size());
      heap_.push_back(s);
      position_[s] = at;
      rise(at);
    } else if (t == never) {
      remove(at);
    } else if (t < before) {
      rise(at);
    } else if (t > before) {
      sink(at);
    }
  }

 private:
  static constexpr std::uint32_t absent = ~0u, arity = 4;

  [[nodiscard]] bool before(slot a, slot b) const noexcept { return times_[a] != times_[b] ? times_[a] < times_[b] : a < b; }

  void put(std::uint32_t at, slot s) noexcept {
    heap_[at] = s;
    position_[s] = at;
  }
  void rise(std::uint32_t at) noexcept {
    const slot s = heap_[at];
    while (at > 0) {
      const std::uint32_t parent = (at - 1) / arity;
      if (!before(s, heap_[parent])) break;
      put(at, heap_[parent]);
      at = parent;
    }
    put(at, s);
  }
  void sink(std::uint32_t at) noexcept {
    const slot s = heap_[at];
    const auto size = static_cast<std::uint32_t>(heap_.size());
    for (;;) {
      const std::uint32_t first_child = at * arity + 1;
      if (first_child >= size) break;
      std::uint32_t least = first_child;
      for (std::uint32_t c = first_child + 1; c < first_child + arity && c < size; ++c)
        if (before(heap_[c], heap_[least])) least = c;
      if (!before(heap_[least], s)) break;
      put(at, heap_[least]);
      at = least;
    }
    put(at, s);
  }
  void remove(std::uint32_t at) noexcept {
    const slot gone = heap_[at], last = heap_.back();
    heap_.pop_back();
    position_[gone] = absent;
    if (gone == last) return;
    put(at, last);
    rise(at);
    sink(position_[last]);
  }

  std::vector<sim_time> times_;
  std::vector<std::uint32_t> position_;
  std::vector<slot> heap_;
  slot taken_ = absent;
};

}  // namespace kilter::sim
