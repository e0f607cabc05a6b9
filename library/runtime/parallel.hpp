#pragma once
// A loop that several workers share. Each has a range of its own, sized by what its core is worth,
// takes pieces from its front, and when it is empty takes the back half of the longest range that
// is left. So nobody waits for a core that is slower than was thought.
//
// The end. Whoever called the loop closes it when no range has anything left, and waits for those
// inside, who have at most one piece each. A worker that was invited and comes later finds it
// closed: nobody waits for workers that never came. One that lost its core in the middle of its
// last piece would keep the caller waiting for a slice of the operating system, several
// milliseconds: whoever sleeps meanwhile lends it the core that has become free (lending.cpp).

#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "base/sync.hpp"
#include "kilter/ids.hpp"
#include "kilter/parallel.hpp"
#include "runtime/loop_ranges.hpp"

namespace kilter::inline v0::detail {

class worker;
struct execution_state;

/// What one member knows of its own speed in one loop, and how long its pieces should be.
struct loop_pace {
  double block_cycles = 0.0;  ///< of one block on this core, undisturbed; 0: not known yet
  double piece_cycles = 0.0;  ///< how long a piece should take
  /// a piece that took that much longer than expected was interrupted
  double gap_cycles = 0.0;
  std::uint64_t lost_cycles = 0;  ///< in such interruptions
  std::uint64_t items = 0;

  /// Blocks of the next piece, if `left` are left in the range.
  [[nodiscard]] std::uint32_t wanted(std::uint32_t left) const noexcept;
  /// The fewest blocks that are worth taking from another.
  [[nodiscard]] std::uint32_t least() const noexcept;
  void add(std::uint32_t blocks, std::uint64_t cycles) noexcept;
};

class shared_loop : public loop_ranges, public loop_door {
 public:
  /// `weights`: one a core, 0 for those that are not invited; some are positive.
  shared_loop(const loop_work&, std::uint32_t row, execution_state*, worker& caller,
              const std::vector<double>& weights);
  /// Another loop of the same caller; only while `unused`.
  void reuse(const loop_work&, std::uint32_t row, execution_state*,
             const std::vector<double>& weights) noexcept;

  loop_work work;
  std::uint32_t row;     ///< of the trace table
  execution_state* run;  ///< of the task that called it; null if none is known
  worker& caller;

  [[nodiscard]] std::uint64_t begin_of(block_range r) const noexcept {
    return r.begin * work.block;
  }
  [[nodiscard]] std::uint64_t end_of(block_range r) const noexcept {
    return r.end == blocks() ? work.count : r.end * work.block;
  }

  void fail(std::exception_ptr) noexcept;
  /// The body threw, or the graph that the loop belongs to was cancelled.
  [[nodiscard]] bool stopped() const noexcept;
  /// What the body threw first, for good: who answers an invitation late must not be the one who
  /// frees it. Only after `everybody_left`.
  [[nodiscard]] std::exception_ptr take_thrown() noexcept {
    return std::exchange(thrown_, nullptr);
  }

  void let_go() noexcept {
    if (drop()) delete this;
  }

 private:
  ~shared_loop() = default;
  std::exception_ptr thrown_;
  alignas(sync::cache_line) sync::atomic<bool> failed_{false}, stopped_{false};
};

/// The loops of one worker. To allocate on lines of its own what other threads free takes as long
/// as a short loop should take to begin, so two are kept: who was invited to the last loop may not
/// have let go of it yet.
class kept_loops {
 public:
  kept_loops() { all_.reserve(most); }
  ~kept_loops() {
    for (shared_loop* const l : all_) l->let_go();
  }
  kept_loops(const kept_loops&) = delete;
  kept_loops& operator=(const kept_loops&) = delete;

  /// One that is kept and that nobody uses, or a new one; held once for the caller.
  [[nodiscard]] shared_loop* get(const loop_work&, std::uint32_t row, execution_state*,
                                 worker& caller, const std::vector<double>& weights);

 private:
  static constexpr std::size_t most = 2;
  std::vector<shared_loop*> all_;
};

}  // namespace kilter::inline v0::detail
