#pragma once
// Where any thread may leave a task for one worker: a stack that is only ever emptied whole, so no
// task can be mistaken for another that came back to the same address (ABA).

#include "base/sync.hpp"

namespace kilter::inline v0::detail {

/// Of anything that has a `T* link`.
template <class T>
class inbox {
 public:
  void push(T* n) noexcept {
    T* head = head_.load(sync::memory_order_relaxed);
    do n->link = head;
    while (!head_.compare_exchange_weak(head, n, sync::memory_order_release,
                                        sync::memory_order_relaxed));
  }
  [[nodiscard]] bool empty() const noexcept {
    return head_.load(sync::memory_order_relaxed) == nullptr;
  }
  /// All of it, the youngest first, joined by `link`.
  T* take_all() noexcept {
    return empty() ? nullptr : head_.exchange(nullptr, sync::memory_order_acquire);
  }

 private:
  sync::atomic<T*> head_{nullptr};
};

/// Tasks joined by `link`, the youngest first; of one thread.
template <class T>
class link_list {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  /// The youngest, or null.
  [[nodiscard]] T* first() const noexcept { return first_; }
  void push(T* n) noexcept {
    n->link = first_;
    first_ = n;
  }
  T* pop() noexcept {
    T* const n = first_;
    if (n) first_ = n->link;
    return n;
  }
  /// All that an inbox gave, which is not empty.
  void push_all(T* youngest) noexcept {
    T* oldest = youngest;
    while (oldest->link) oldest = oldest->link;
    oldest->link = first_;
    first_ = youngest;
  }

 private:
  T* first_ = nullptr;
};

}  // namespace kilter::inline v0::detail
