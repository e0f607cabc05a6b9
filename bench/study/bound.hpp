#pragma once
// The clairvoyant bound of a cell: the larger of work / capacity and critical path on the freest
// core, under its disturbance.

#include "study/journal.hpp"
#include "study/plan.hpp"

namespace kilter::bench {

/// Seconds, from the means of the pinned loops before and after the runs of `repeat`, or of all
/// that the journal has for the cell. NaN if it has none. A machine drifts within minutes, so a run
/// is held against the bound of its own repeat.
[[nodiscard]] double bound_s(const cell&, std::uint32_t tasks, const journal&,
                             std::optional<std::uint32_t> repeat = {});
/// How many free cores' worth of time there is: capacity under the disturbance over the freest core
/// alone; for a wave in its slow half.
[[nodiscard]] double free_cores(const cell&, const journal&);

}  // namespace kilter::bench
