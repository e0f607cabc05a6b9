#pragma once
// Second stage (papers.md S4, section III-B, Algorithm 1 with the repairs of E34): which threads
// might change places.
//
//   placement rule: a thread of class memory belongs on a core of high bandwidth, one of class
//   compute on a core of low bandwidth sort the threads by access rate all of one class:  pair the
//   ends: lowest with highest, second lowest with second highest, ... else:              from the
//   low end and from the high end take threads that break the rule, and pair them, until enough or
//   the pointers meet
//
// Where one class is larger than its side some of it must break the rule. With `turns`, rule
// breakers of different classes are paired first, and then each one left over is paired with the
// thread of its own class that has been longest on the other side.

#include <cstdint>
#include <span>
#include <vector>

#include "balance/observer.hpp"

namespace kilter::balance {

/// Two threads that might change places; of `low` the access rate is the lower one.
struct thread_pair {
  thread_view low, high;
  /// class_rule: of different classes; rotation: a turn; swap: any other
  reason why = reason::swap;
};

struct selection_rules {
  std::uint32_t pairs = 4;  ///< at most so many (papers.md E36)
  /// only a compute thread on a high core with a memory thread on a low one (papers.md E34 g)
  bool strict = false;
  bool turns = true;
  bool one_class = true;  ///< pairs where all threads are of one class
  /// false: only classes are known, so of two threads of one class none is above the other
  bool rates = true;
};

/// True if the thread breaks the placement rule; never true where its class or the side of its core
/// is unknown.
[[nodiscard]] bool breaks_rule(const thread_view&, std::span<const core_side>);

/// Pairs in the order in which they are formed. Threads that may not be moved, and pairs on one
/// core, are left out.
[[nodiscard]] std::vector<thread_pair> select_pairs(std::span<const thread_view>,
                                                    std::span<const core_side>,
                                                    const selection_rules&);

/// Every thread by access rate, or by class and then thread where no rates are seen; lowest with
/// highest, and so on to the middle (S4's DIO).
[[nodiscard]] std::vector<thread_pair> pair_the_ends(std::span<const thread_view>, bool rates,
                                                     std::uint32_t pairs);

}  // namespace kilter::balance
