#pragma once
// The searches that the table-driven policies share (S0, sections 4.1.1 and 4.1.2; facts A1.1, A1.2, E1, E13, E55).
//
//   local search for core c:   among the places that contain c (or that c leads), the one with the least time x width
//   global search:             among all places, the one with the least time x width (cost), or the least time
//   explore-first:             a search that meets a place without a sample takes it at once; core ascending, then width ascending
//   ties:                      smaller width, then lower leader
//
// All of them look only at places that the task allows and whose cores are online.

#include <span>

#include "kilter/policy.hpp"

namespace kilter::search {

/// Shared cell of every policy here that searches: how many cores are offline, kept by `note_offline`. While it is 0 no search asks
/// for single cores.
inline constexpr std::uint32_t offline_cell = 0;
inline constexpr std::uint32_t cells = 1;

/// Question 6.
void note_offline(view&) noexcept;

/// The narrowest allowed place that contains `here`; if there is none, the first allowed one in scan order; width 1 on `here` if the
/// task allows nothing that the machine has.
[[nodiscard]] place_id narrowest(view&, task_ref, core_id here) noexcept;

/// Minimum cost among the places that contain `here` (or that it leads); now and then a random one of them, if the table says so.
[[nodiscard]] place_id local(view&, task_ref, core_id here, policy_options::local which) noexcept;

enum class widths : std::uint8_t { all, one };

/// Best of all places under `goal`, settled by the table. With `widths::one` only single cores, unless the task allows none of them.
[[nodiscard]] place_id global(view&, task_ref, objective goal, widths = widths::all) noexcept;

/// Minimum cost among `candidates`; no_place if none is allowed and online.
[[nodiscard]] place_id among(view&, task_ref, std::span<const place_id> candidates, objective goal) noexcept;

}  // namespace kilter::search
