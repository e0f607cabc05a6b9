#pragma once
// Upward ranks of a batch in predicted seconds (Topcuoglu et al. 2002, section 4.1; papers.md A6.3, without communication): how much is left to do
// after a task begins, on the way that takes longest.

#include <bit>

#include "kilter/policy.hpp"

namespace kilter::ranks {

/// Question 1: leaves in each task's bytes its rank, its own seconds, and at most how many seconds of work can wait for it: those of its successors and of all
/// that descends from each of them (what descends from two counts twice), but no more than of all tasks that cannot be on a way to it, those whose rank is at
/// most what is left after it; the low half of `a` is 0. Returns the seconds of all. A task counts with its time on an undisturbed
/// core of the fastest kind, as far as the trace table knows types, and with its `work`. With `mark` one longest path is flagged critical, and
/// nothing else. O(tasks log tasks + edges).
double on_submit(view&, bool mark);

/// What on_submit left in a task's bytes.
[[nodiscard]] inline double rank_s(const task_state& s) noexcept { return std::bit_cast<float>(static_cast<std::uint32_t>(s.b >> 32)); }
[[nodiscard]] inline double later_s(const task_state& s) noexcept { return std::bit_cast<float>(static_cast<std::uint32_t>(s.b)); }
[[nodiscard]] inline double own_s(const task_state& s) noexcept { return std::bit_cast<float>(static_cast<std::uint32_t>(s.a >> 32)); }

}  // namespace kilter::ranks
