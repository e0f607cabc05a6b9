#pragma once
// Who does which part of a loop, and how it ends: what parallel.hpp says in words, without the
// workers.

#include <memory>
#include <vector>

#include "base/sync.hpp"
#include "kilter/ids.hpp"

namespace kilter::inline v0::detail {

/// Blocks [begin, end) of a loop.
struct block_range {
  std::uint32_t begin = 0, end = 0;
  [[nodiscard]] std::uint32_t size() const noexcept { return end - begin; }
  explicit operator bool() const noexcept { return begin != end; }
};

/// One range a core. A range only ever shrinks or is cut in two, and its value is all there is to
/// it, so a compare-and-swap on its value cannot mistake it for another, and no access to it orders
/// anything else.
class loop_ranges {
 public:
  /// `weights`: one a core, 0 for those that get nothing at first; some are positive.
  loop_ranges(std::uint32_t blocks, const std::vector<double>& weights);
  /// Of another loop with as many cores, while nobody else knows of it.
  void deal(std::uint32_t blocks, const std::vector<double>& weights) noexcept;

  [[nodiscard]] std::uint32_t blocks() const noexcept { return blocks_; }
  [[nodiscard]] std::uint32_t left(core_id c) const noexcept {
    return unpack(slots_[c].range.load(sync::memory_order_relaxed)).size();
  }
  /// Up to `blocks` from the front of the core's own range.
  [[nodiscard]] block_range take(core_id, std::uint32_t blocks) noexcept;
  /// Moves the back half of the longest range, or all of it if that is `least` or less, to the
  /// core's own empty one. False if nothing is left.
  [[nodiscard]] bool steal(core_id, std::uint32_t least) noexcept;
  [[nodiscard]] bool anything_left() const noexcept;

  /// The member has begun, or has done its last piece.
  void works(core_id c, bool now) noexcept {
    slots_[c].working.store(now, sync::memory_order_release);
  }
  [[nodiscard]] bool working(core_id c) const noexcept {
    return slots_[c].working.load(sync::memory_order_acquire);
  }

 private:
  struct alignas(sync::cache_line) slot {
    sync::atomic<std::uint64_t> range{0};  ///< what is not yet handed out: begin << 32 | end
    sync::atomic<bool> working{false};
  };
  static std::uint64_t pack(block_range r) noexcept { return std::uint64_t{r.begin} << 32 | r.end; }
  static block_range unpack(std::uint64_t v) noexcept {
    return {static_cast<std::uint32_t>(v >> 32), static_cast<std::uint32_t>(v)};
  }

  std::uint32_t blocks_ = 0;
  const core_id cores_;
  const std::unique_ptr<slot[]> slots_;
};

/// Members come and go until it is closed; then the caller waits for those inside.
class loop_door {
 public:
  /// False if it is closed.
  [[nodiscard]] bool enter() noexcept {
    std::uint32_t now = inside_.load(sync::memory_order_acquire);
    do
      if (now & closed) return false;
    while (!inside_.compare_exchange_weak(now, now + 1, sync::memory_order_acq_rel,
                                          sync::memory_order_acquire));
    return true;
  }
  /// True for the last one out of a closed loop, who wakes the caller.
  [[nodiscard]] bool leave() noexcept {
    return inside_.fetch_sub(1, sync::memory_order_acq_rel) == (closed | 1);
  }
  void close() noexcept { inside_.fetch_or(closed, sync::memory_order_acq_rel); }
  [[nodiscard]] bool everybody_left() const noexcept {
    return inside_.load(sync::memory_order_acquire) == closed;
  }

  /// The caller's hold and one for each invitation.
  void hold() noexcept { holders_.fetch_add(1, sync::memory_order_relaxed); }
  /// Whether one hold is left, so that whoever has it may `open` the door for another loop.
  [[nodiscard]] bool unused() const noexcept {
    return holders_.load(sync::memory_order_acquire) == 1;
  }
  void open() noexcept { inside_.store(0, sync::memory_order_relaxed); }
  /// True for whoever lets go last, who deletes the loop.
  [[nodiscard]] bool drop() noexcept {
    return holders_.fetch_sub(1, sync::memory_order_acq_rel) == 1;
  }

 private:
  static constexpr std::uint32_t closed = 1u << 31;
  alignas(sync::cache_line) sync::atomic<std::uint32_t> inside_{0};
  sync::atomic<std::uint32_t> holders_{1};
};

}  // namespace kilter::inline v0::detail
