#pragma once
// Six policies that exist to test the contract: each needs something of it that none of the
// built-in ones does. All work on real threads: what workers share is in the view's cells.

#include <memory>
#include <vector>

#include "kilter/policy.hpp"

namespace kilter::conformance {

using made = std::shared_ptr<const policy>;

/// Shared queues sorted by bottom level, re-keying of waiting tasks, 300 tries before the other
/// queue, never parking in between (CATS).
[[nodiscard]] made sorted_probe(const machine&);
/// A plan made at submission: a worker waits for exactly the task that is next in its plan (HEFT).
[[nodiscard]] made planned_probe(const machine&);
/// Each ready task is bound to the core that is estimated to be done first (dHEFT).
[[nodiscard]] made busy_probe(const machine&);
/// One shared first-in-first-out queue (breadth-first).
[[nodiscard]] made fifo_probe(const machine&);
/// Looks at a task and, now and then, leaves it to others.
[[nodiscard]] made declining_probe(const machine&);
/// Two shared queues, one of which only the first half of the cores may take from (CATS-2Q).
[[nodiscard]] made restricted_probe(const machine&);

[[nodiscard]] std::vector<made> probes(const machine&);

}  // namespace kilter::conformance
