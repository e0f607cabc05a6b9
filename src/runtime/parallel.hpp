#pragma once
// A loop that several workers share. Each has a range of its own, sized by what its core is worth, takes pieces from its front, and when it
// is empty takes the back half of the longest range that is left. So nobody waits for a core that is slower than was thought.
//
// The end. Whoever called the loop closes it when no range has anything left, and waits for those inside, who have at most one piece each.
// A worker that was invited and comes later finds it closed: nobody waits for workers that never came. One that lost its core in the middle of its
// last piece would keep the caller waiting for a slice of the operating system, several milliseconds: whoever has nothing left to do
// pins its thread to the core that has become free (lend_core). It goes back before its next task.
// A range only ever shrinks or is cut in two, so a compare-and-swap on its value cannot mistake it for another.

#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "base/sync.hpp"
#include "kilter/ids.hpp"
#include "kilter/parallel.hpp"

namespace kilter::detail {

class worker;
struct execution_state;

/// Blocks [begin, end) of a loop.
struct block_range {
  std::uint32_t begin = 0, end = 0;
  [[nodiscard]] std::uint32_t size() const noexcept { return end - begin; }
  explicit operator bool() const noexcept { return begin != end; }
};

/// What one member knows of its own speed in one loop, and how long its pieces should be.
struct loop_pace {
  double block_cycles = 0.0;       ///< of one block on this core, undisturbed; 0: not known yet
  double piece_cycles = 0.0;       ///< how long a piece should take
  double gap_cycles = 0.0;         ///< a piece that took that much longer than expected was interrupted
  std::uint64_t lost_cycles = 0;   ///< in such interruptions
  std::uint64_t items = 0;

  /// Blocks of the next piece, if `left` are left in the range.
  [[nodiscard]] std::uint32_t wanted(std::uint32_t left) const noexcept;
  /// The fewest blocks that are worth taking from another.
  [[nodiscard]] std::uint32_t least() const noexcept;
  void add(std::uint32_t blocks, std::uint64_t cycles) noexcept;
};

class shared_loop {
 public:
  /// `weights`: one a core, 0 for those that are not invited; some are positive.
  shared_loop(const loop_work&, std::uint32_t row, execution_state*, worker& caller, const std::vector<double>& weights);

  const loop_work work;
  const std::uint32_t row;     ///< of the trace table
  execution_state* const run;  ///< of the task that called it; null if none is known
  worker& caller;

  [[nodiscard]] std::uint32_t left(core_id c) const noexcept { return unpack(slots_[c].range.load(sync::memory_order_relaxed)).size(); }
  /// Up to `blocks` from the front of the core's own range.
  [[nodiscard]] block_range take(core_id, std::uint32_t blocks) noexcept;
  /// Moves the back half of the longest range, or all of it if that is `least` or less, to the core's own empty one. False if nothing is left.
  [[nodiscard]] bool steal(core_id, std::uint32_t least) noexcept;
  [[nodiscard]] bool anything_left() const noexcept;
  [[nodiscard]] std::uint64_t begin_of(block_range r) const noexcept { return r.begin * work.block; }
  [[nodiscard]] std::uint64_t end_of(block_range r) const noexcept { return r.end == blocks_ ? work.count : r.end * work.block; }

  /// The member has begun, or has done its last piece.
  void works(core_id c, bool now) noexcept { slots_[c].working.store(now, sync::memory_order_release); }
  [[nodiscard]] bool working(core_id c) const noexcept { return slots_[c].working.load(sync::memory_order_acquire); }

  void fail(std::exception_ptr) noexcept;
  /// The body threw, or the graph that the loop belongs to was cancelled.
  [[nodiscard]] bool stopped() const noexcept;
  /// What the body threw first, for good: who answers an invitation late must not be the one who frees it. Only after `everybody_left`.
  [[nodiscard]] std::exception_ptr take_thrown() noexcept { return std::exchange(thrown_, nullptr); }

  /// False if it is closed.
  [[nodiscard]] bool enter() noexcept;
  /// True for the last one out of a closed loop, who wakes the caller.
  [[nodiscard]] bool leave() noexcept { return inside_.fetch_sub(1, sync::memory_order_acq_rel) == (closed | 1); }
  void close() noexcept { inside_.fetch_or(closed, sync::memory_order_acq_rel); }
  [[nodiscard]] bool everybody_left() const noexcept { return inside_.load(sync::memory_order_acquire) == closed; }

  /// The caller's hold and one for each invitation. Whoever lets go last deletes the loop.
  void hold() noexcept { holders_.fetch_add(1, sync::memory_order_relaxed); }
  void let_go() noexcept {
    if (holders_.fetch_sub(1, sync::memory_order_acq_rel) == 1) delete this;
  }

 private:
  ~shared_loop() = default;
  static constexpr std::uint32_t closed = 1u << 31;
  struct alignas(sync::cache_line) slot {
    sync::atomic<std::uint64_t> range{0};  ///< what is not yet handed out: begin << 32 | end
    sync::atomic<bool> working{false};
  };
  static std::uint64_t pack(block_range r) noexcept { return std::uint64_t{r.begin} << 32 | r.end; }
  static block_range unpack(std::uint64_t v) noexcept { return {static_cast<std::uint32_t>(v >> 32), static_cast<std::uint32_t>(v)}; }

  const std::uint32_t blocks_;
  const core_id cores_;
  const std::unique_ptr<slot[]> slots_;
  std::exception_ptr thrown_;
  alignas(sync::cache_line) sync::atomic<std::uint32_t> inside_{0};
  sync::atomic<std::uint32_t> holders_{1};
  alignas(sync::cache_line) sync::atomic<bool> failed_{false}, stopped_{false};
};

}  // namespace kilter::detail
