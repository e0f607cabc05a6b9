#pragma once
// The work-stealing deque of Chase and Lev, with the memory orders of Le, Pop, Cohen and Zappa
// Nardelli (PPoPP 2013). The owner pushes and pops at the bottom, thieves take from the top, one
// task a time.

#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/sync.hpp"

namespace kilter::inline v0::detail {

template <class T>
class work_deque {
 public:
  explicit work_deque(std::size_t capacity = 256) {
    buffer_.store(new_ring(std::bit_ceil(capacity)), sync::memory_order_relaxed);
  }
  work_deque(const work_deque&) = delete;
  work_deque& operator=(const work_deque&) = delete;

  /// Owner only. Amortised O(1); allocates when it doubles.
  void push(T* item) {
    const std::int64_t b = bottom_.load(sync::memory_order_relaxed);
    ring* r = buffer_.load(sync::memory_order_relaxed);
    // The owner's copy of the top is only ever too low, so it errs towards growing.
    if (b - top_seen_ > static_cast<std::int64_t>(r->mask)) [[unlikely]] {
      top_seen_ = top_.load(sync::memory_order_acquire);
      if (b - top_seen_ > static_cast<std::int64_t>(r->mask)) r = grow(r, top_seen_, b);
    }
    r->slots[static_cast<std::size_t>(b) & r->mask].store(item, sync::memory_order_relaxed);
    bottom_.store(b + 1, sync::memory_order_release);
  }

  /// Owner only: the youngest, or null.
  T* pop() noexcept {
    const std::int64_t b = bottom_.load(sync::memory_order_relaxed) - 1;
    // If the owner alone knows the deque to be empty it need not announce anything.
    if (b < top_seen_) return nullptr;
    ring* r = buffer_.load(sync::memory_order_relaxed);
    bottom_.store(b, sync::memory_order_relaxed);
    sync::fence();
    std::int64_t t = top_.load(sync::memory_order_relaxed);
    top_seen_ = t;
    if (t > b) {
      bottom_.store(b + 1, sync::memory_order_relaxed);
      return nullptr;
    }
    T* item = r->slots[static_cast<std::size_t>(b) & r->mask].load(sync::memory_order_relaxed);
    if (t == b) {
      if (!top_.compare_exchange_strong(t, t + 1, sync::memory_order_seq_cst,
                                        sync::memory_order_relaxed))
        item = nullptr;
      bottom_.store(b + 1, sync::memory_order_relaxed);
      top_seen_ = b + 1;
    }
    return item;
  }

  enum class outcome : std::uint8_t { success, empty, lost_race };

  /// Anyone: the oldest.
  outcome steal(T*& item) noexcept {
    std::int64_t t = top_.load(sync::memory_order_acquire);
    sync::fence();
    const std::int64_t b = bottom_.load(sync::memory_order_acquire);
    if (t >= b) return outcome::empty;
    ring* r = buffer_.load(sync::memory_order_acquire);
    item = r->slots[static_cast<std::size_t>(t) & r->mask].load(sync::memory_order_relaxed);
    return top_.compare_exchange_strong(t, t + 1, sync::memory_order_seq_cst,
                                        sync::memory_order_relaxed)
               ? outcome::success
               : outcome::lost_race;
  }

  /// Anyone; may be stale at once.
  [[nodiscard]] std::size_t size() const noexcept {
    const std::int64_t b = bottom_.load(sync::memory_order_acquire);
    const std::int64_t t = top_.load(sync::memory_order_acquire);
    return b > t ? static_cast<std::size_t>(b - t) : 0;
  }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }

 private:
  struct ring {
    explicit ring(std::size_t n) : mask(n - 1), slots(std::make_unique<sync::atomic<T*>[]>(n)) {}
    std::size_t mask;
    std::unique_ptr<sync::atomic<T*>[]> slots;
  };

  ring* new_ring(std::size_t n) {
    rings_.push_back(std::make_unique<ring>(n));
    return rings_.back().get();
  }

  ring* grow(ring* old, std::int64_t t, std::int64_t b) {
    ring* bigger = new_ring((old->mask + 1) * 2);
    for (std::int64_t i = t; i < b; ++i)
      bigger->slots[static_cast<std::size_t>(i) & bigger->mask].store(
          old->slots[static_cast<std::size_t>(i) & old->mask].load(sync::memory_order_relaxed),
          sync::memory_order_relaxed);
    buffer_.store(bigger, sync::memory_order_release);
    return bigger;
  }

  alignas(sync::cache_line) sync::atomic<std::int64_t> top_{0};
  alignas(sync::cache_line) sync::atomic<std::int64_t> bottom_{0};
  std::int64_t top_seen_ = 0;  // owner's: the top when it last looked
  sync::atomic<ring*> buffer_{nullptr};
  // a thief may still read an outgrown ring, so all live as long as the deque
  std::vector<std::unique_ptr<ring>> rings_;
};

}  // namespace kilter::inline v0::detail
