#pragma once
// How alike the threads of a program are (papers.md S3, section 6, Table 4): SymInst over
// instructions, SymLock over synchronisation primitives.

#include <cstdint>
#include <span>
#include <vector>

namespace kilter::balance {

/// When a thread lived, in any unit.
struct thread_life {
  double began = 0.0, ended = 0.0;
};

/// The thread-group of each thread (S3, Fig. 10). The first thread is the parent, a group by itself
/// however long it lives. Of the others those that were alive together are one group: a group ends
/// when all of its threads have, and the next thread begins another. Groups are numbered in order
/// of time.
[[nodiscard]] std::vector<std::uint32_t> thread_groups(std::span<const thread_life>);

/// Mean over the groups of (population standard deviation of the counts of the group's threads /
/// their total). `group[i]` is thread i's, numbers dense from 0. A group of one thread, or whose
/// threads counted nothing, contributes 0. Lies between 0 and 1/2: one of two threads doing all is
/// the most.
[[nodiscard]] double symmetry(std::span<const double> counts, std::span<const std::uint32_t> group);

/// Below this a program counts as symmetric, if both SymInst and SymLock are (S3, footnote 3).
inline constexpr double symmetric_below = 0.01;

}  // namespace kilter::balance
