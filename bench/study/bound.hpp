#pragma once
// The clairvoyant bound of a cell: the larger of work / capacity and critical path on the freest core, under its disturbance.

#include "study/journal.hpp"
#include "study/plan.hpp"

namespace kilter::bench {

/// Seconds, from the means of all pinned loops that the journal has for the cell, before and after its runs. NaN if it has none.
[[nodiscard]] double bound_s(const cell&, std::uint32_t tasks, const journal&);
/// How many free cores' worth of time there is: capacity under the disturbance over the freest core alone; for a wave in its slow half.
[[nodiscard]] double free_cores(const cell&, const journal&);

}  // namespace kilter::bench
