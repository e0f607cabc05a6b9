#pragma once
// How the performance trace table learns. `paper()` is exactly the papers'; every part of
// `robust()` is a switch of its own.

#include <cstdint>

#include "kilter/version.hpp"

namespace kilter {
inline namespace v0 {

/// Options of the trace table (papers.md S0, A1.1, E1-E4; the robust parts:
/// docs/inside/decisions/trace-table.md).
struct table_options {
  // --- the papers' table ---
  /// weight of a new sample in the moving average, (0, 1]; 1 keeps no memory (S0 Fig. 8)
  double sample_weight = 0.2;
  /// a search that meets an unexplored place takes it at once (E1); false: time 0 competes
  bool explore_first = true;
  /// a local search takes a random place once in this many; 0: never (E2; 10 is X20's)
  std::uint32_t refresh_every = 0;

  // --- the robust parts ---
  /// intrinsic time of (type, place) times the slowdown of its cores, instead of the average
  bool two_factors = false;
  /// unexplored places read as a guess from their peers, instead of as free
  bool neutral_prior = false;
  bool lost_time = false;  ///< critical tasks leave their place only on real lost time
  /// a core nobody has run on lately drifts back to undisturbed
  bool idle_decay = false;
  bool ageing = false;  ///< stale cells are tried again, within the probing budget

  /// a time is learned for one unit of task_options::work, where tasks tell theirs
  bool by_work = false;

  double window_s = 0.032;      ///< time constant of a core's slowdown, wall-clock seconds
  double idle_decay_s = 0.030;  ///< time constant of the drift of an idle core
  double move_after_s = 0.001;  ///< lost seconds before a move
  double move_gain = 0.10;      ///< smallest relative gain for which a move is made
  double probe_budget = 0.01;   ///< largest share of the time spent on re-exploration
  double probe_after_s = 0.25;  ///< a cell without a sample for this long is stale

  [[nodiscard]] static constexpr table_options paper() noexcept { return {}; }
  [[nodiscard]] static constexpr table_options robust() noexcept {
    table_options o;
    o.explore_first = false;
    o.two_factors = o.neutral_prior = o.lost_time = o.idle_decay = o.ageing = o.by_work = true;
    return o;
  }
};

/// What a search minimises. Cost and time are the papers' (S0 Table 1), and the only two that the
/// trace table searches by itself; energy and edp are named by S2 as possible (papers.md D16)
/// and need the watts of each place.
enum class objective : std::uint8_t {
  cost,  ///< time x width
  time,
  energy,  ///< time x watts of the place
  edp,     ///< time x time x watts of the place
};

}  // namespace v0
}  // namespace kilter
