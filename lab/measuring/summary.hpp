#pragma once
// From rows of runs to lines of the table.

#include "measuring/results.hpp"

namespace kilter::lab {

/// A run cannot beat a clairvoyant bound. A median above this says that the loops behind the bound
/// got less of the machine than the runs did, by more than the noise of such loops; what rests on
/// that bound then counts for nothing.
inline constexpr double beyond_the_bound = 1.03;

/// One line for every (policy, scenario, cold or warm), in the order in which `policies` and
/// `scenarios` name them. RWS is paired by scenario, repeat, root and graph, so that drift of the
/// machine and the luck of the root cancel.
[[nodiscard]] std::vector<summary_row> summarize(const std::vector<run_row>& runs,
                                                 const std::vector<std::string>& policies,
                                                 const std::vector<std::string>& scenarios);

}  // namespace kilter::lab
