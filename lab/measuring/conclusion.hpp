#pragma once
// What a comparison comes to: which policy is fastest over its cells, by how much, and where it is
// not. A cell is a graph on a machine in a scenario. Pure: it knows the rows alone, and of these
// those that are not warm.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measuring/results.hpp"

namespace kilter::lab {

/// How many times as fast one policy is as another, by geometric means over cells: of medians, and
/// between the extremes of the runs.
struct speed_ratio {
  double of_medians = 1.0;
  /// absent if each policy ran once, for then nothing is known of their spread
  std::optional<double> least{}, most{};
};

struct conclusion {
  struct standing {
    std::string policy;
    bool best = false;   ///< it is first, or cannot be told from who is
    speed_ratio lead{};  ///< of the first policy over this one; 1 for the first
    /// geometric mean; absent where the bound does not hold
    std::optional<double> ratio_to_bound{};
  };
  struct cell {
    std::string graph, on, disturb;
    std::string policy;  ///< the fastest of those that are not best
    /// how many times as fast it is as the fastest of the best
    double ratio = 1.0;
  };
  /// those that every policy has run in; others do not count
  std::size_t cells = 0;
  std::uint32_t runs = 0;             ///< of each policy in each of them
  std::vector<standing> standings{};  ///< fastest first
  /// where a policy that is not best is faster, by more than the spread
  std::vector<cell> lost{};
  /// where the one policy that is best cannot be told from the next; none if several are best
  std::vector<cell> close{};
};

/// Less is not said to be a difference: two decimals, as tables have, would not show it.
inline constexpr double least_difference = 1.005;

/// Two policies can be told apart if the makespans of their runs do not overlap and the medians
/// differ by `least_difference`.
[[nodiscard]] conclusion conclude(const std::vector<std::vector<result_row>>&);

/// One to four lines; the last says what it means for who chooses no policy. None if no cell is
/// complete.
[[nodiscard]] std::vector<std::string> sentences_of(const conclusion&);

}  // namespace kilter::lab
