#pragma once
// What a journal says: fractions of the bound for every cell and system, and the goals.

#include <optional>
#include <string>
#include <vector>

#include "study/journal.hpp"
#include "study/plan.hpp"

namespace kilter::bench {

struct system_summary {
  std::string name;
  std::uint32_t runs = 0;
  double median = 0.0, smallest = 0.0, largest = 0.0;  ///< fractions of the bound
  double mean_s = 0.0;                                 ///< seconds of a run
  /// mean share of the critical tasks; Kilter only
  std::optional<double> critical_on_core_0{};
  /// at one change of the wave: median and largest
  std::optional<double> lost_ms{}, lost_ms_max{};
  /// How many times faster `auto` is in the same repeat, geometric mean, and the standard error of
  /// its logarithm; of two repeats and more. Runs of one repeat are close in time, so what a shared
  /// machine does from minute to minute counts less than in a ratio of medians.
  std::optional<double> ours_faster{}, ours_faster_error{};
};

/// One line of the table. Graphs of short runs make two: the first one of a runtime, and the later
/// ones.
struct cell_summary {
  cell what;
  std::string graphs;  ///< "", "first", "later"
  std::uint32_t tasks = 0;
  double bound_s = 0.0, free_cores = 0.0;
  /// somebody was faster than possible: the loops were measured too slow, so the fractions count
  /// for nothing
  bool bound_refuted = false;
  std::vector<system_summary> systems;

  [[nodiscard]] std::string name() const;  ///< "P2/16us/cpu/20ms/first"
  [[nodiscard]] const system_summary* find(const std::string& system) const;
};

struct goal_row {
  std::string goal;   ///< what was wanted
  std::string where;  ///< the cell, and whom it is held against
  double value = 0.0, limit = 0.0;
  bool at_least = true;  ///< false: at most
  [[nodiscard]] bool met() const noexcept { return at_least ? value >= limit : value <= limit; }
};

struct study_summary {
  std::vector<cell_summary> cells;
  std::vector<goal_row> goals;
  std::size_t runs = 0, builds = 0;  ///< graph runs, and how many builds of the program made them
};

[[nodiscard]] study_summary summarize(const journal&, const machine&);

}  // namespace kilter::bench
