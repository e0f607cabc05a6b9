#pragma once
// The searches that the table-driven policies share (papers.md S0, sections 4.1.1 and 4.1.2; A1.1,
// A1.2, E1, E13, E55).
//
//   local search for core c:   among the places that contain c (or that c leads), the one with the
//   least time x width global search:             among all places, the one with the least time x
//   width (cost), or the least time explore-first:             a search that meets a place without
//   a sample takes it at once; core ascending, then width ascending ties: smaller width, then lower
//   leader
//
// All of them look only at places that the task allows and whose cores are online.

#include <span>
#include <vector>

#include "kilter/policy.hpp"

namespace kilter::search {

/// Shared cell of every policy here that searches: how many cores are offline, kept by
/// `note_offline`. While it is 0 no search asks for single cores.
inline constexpr std::uint32_t offline_cell = 0;
inline constexpr std::uint32_t cells = 1;

/// Question 6.
void note_offline(view&) noexcept;

/// The narrowest allowed place that contains `here`; if there is none, the first allowed one in
/// scan order; width 1 on `here` if the task allows nothing that the machine has.
[[nodiscard]] place_id narrowest(view&, task_ref, core_id here) noexcept;

/// What a search minimises, and what it needs for that.
struct aim {
  aim(objective o) noexcept : what(o) {}
  /// What the options say, otherwise the policy's own.
  aim(const policy_options& o, objective own) : what(o.minimise.value_or(own)), watts(o.watts) {}
  [[nodiscard]] double value(double time_s, place_id p, std::uint32_t width) const noexcept {
    switch (what) {
      case objective::cost: return time_s * width;
      case objective::time: return time_s;
      case objective::energy: return time_s * watts[p];
      case objective::edp: return time_s * time_s * watts[p];
    }
    return time_s;
  }
  [[nodiscard]] bool by_watts() const noexcept {
    return what == objective::energy || what == objective::edp;
  }
  objective what;
  std::vector<double> watts{};  // by place, if what is minimised needs them
};

/// Minimum cost, unless another aim is given, among the places that contain `here` (or that it
/// leads); now and then a random one of them, if the table says so.
[[nodiscard]] place_id local(view&, task_ref, core_id here, policy_options::local which,
                             const aim& = objective::cost) noexcept;

enum class widths : std::uint8_t { all, one };

/// Best of all places under `goal`. The table settles whether cost or time are worth a move; for
/// energy and edp the best place is taken at once. With `widths::one` only single cores, unless the
/// task allows none of them.
[[nodiscard]] place_id global(view&, task_ref, const aim& goal, widths = widths::all) noexcept;

/// The best under `goal` among `candidates`; no_place if none is allowed and online.
[[nodiscard]] place_id among(view&, task_ref, std::span<const place_id> candidates,
                             const aim& goal) noexcept;

}  // namespace kilter::search
