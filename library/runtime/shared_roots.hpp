#pragma once
// The roots of a graph that begins, as long as nobody has taken them: whoever comes takes a piece.
// The order is that of a deque in which they would lie: their owner takes the youngest, others the
// oldest.

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "base/spin_lock.hpp"
#include "base/sync.hpp"

namespace kilter::inline v0::detail {

struct node;

class shared_roots {
 public:
  /// What one taker gets, the next to run first.
  struct piece {
    static constexpr std::uint32_t most = 32;
    std::array<node*, most> tasks;
    std::uint32_t count = 0;
  };

  /// May be stale at once.
  [[nodiscard]] std::uint32_t left() const noexcept {
    return left_.load(sync::memory_order_acquire);
  }
  /// By their owner, when none is left. They are there until the last has run.
  void open(std::span<node* const> roots) noexcept {
    const sync::lock_guard hold(lock_);
    next_ = roots.data();
    left_.store(static_cast<std::uint32_t>(roots.size()), sync::memory_order_release);
  }
  /// So much that each of `takers` gets several pieces; nothing if none is left.
  void take(piece& p, bool by_owner, std::uint32_t takers) noexcept {
    const sync::lock_guard hold(lock_);
    const std::uint32_t left = left_.load(sync::memory_order_relaxed);
    p.count = std::min(left, std::clamp<std::uint32_t>(left / (2 * takers), 1, piece::most));
    // While a root is left its run cannot end, so the list is there.
    if (by_owner) {
      std::reverse_copy(next_ + (left - p.count), next_ + left, p.tasks.begin());
    } else {
      std::copy_n(next_, p.count, p.tasks.begin());
      next_ += p.count;
    }
    left_.store(left - p.count, sync::memory_order_release);
  }

 private:
  sync::spin_lock lock_;
  node* const* next_ = nullptr;  // under the lock
  sync::atomic<std::uint32_t> left_{0};
};

}  // namespace kilter::inline v0::detail
