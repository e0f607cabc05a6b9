#pragma once
// Upward ranks of a batch in predicted seconds (Topcuoglu et al. 2002, section 4.1; papers.md A6.3,
// without communication): how much is left to do after a task begins, on the way that takes
// longest.

#include <bit>

#include "kilter/policy.hpp"

namespace kilter::ranks {

/// What a task's sixteen bytes hold under a policy that ranks: three times in seconds, and 32 bits
/// that are the policy's own.
///
///   a: own_s << 32 | note     b: rank_s << 32 | later_s
struct task_rank {
  float own_s = 0.0F;  ///< the task itself
  /// from its beginning to the end of the graph, on the way that takes longest
  float rank_s = 0.0F;
  float later_s = 0.0F;  ///< at most so much work can wait for it
  std::uint32_t note = 0;

  [[nodiscard]] static constexpr task_rank of(const task_state& s) noexcept {
    return {seconds(s.a >> 32), seconds(s.b >> 32), seconds(s.b), static_cast<std::uint32_t>(s.a)};
  }
  [[nodiscard]] constexpr task_state packed() const noexcept {
    return {std::uint64_t{bits(own_s)} << 32 | note,
            std::uint64_t{bits(rank_s)} << 32 | bits(later_s)};
  }
  friend bool operator==(const task_rank&, const task_rank&) = default;

 private:
  static constexpr float seconds(std::uint64_t low_half) noexcept {
    return std::bit_cast<float>(static_cast<std::uint32_t>(low_half));
  }
  static constexpr std::uint32_t bits(float s) noexcept { return std::bit_cast<std::uint32_t>(s); }
};

/// Question 1: leaves in each task's bytes its rank, its own seconds, and at most how many seconds
/// of work can wait for it: those of its successors and of all that descends from each of them
/// (what descends from two counts twice), but no more than of all tasks that cannot be on a way to
/// it, those whose rank is at most what is left after it; the note is 0. Returns the seconds of
/// all. A task counts with its time on an undisturbed core of the fastest kind, as far as the trace
/// table knows types, and with its `work`. With `mark` one longest path is flagged critical, and
/// nothing else. O(tasks + edges).
double on_submit(view&, bool mark);

}  // namespace kilter::ranks
