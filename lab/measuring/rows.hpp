#pragma once
// From runs to rows.

#include <string>
#include <vector>

#include "measuring/experiment.hpp"
#include "measuring/results.hpp"

namespace kilter::lab {

/// A run cannot beat a clairvoyant bound. A median above this says that the loops behind the bound
/// got less of the machine than the runs did, by more than the noise of such loops; what rests on
/// that bound then counts for nothing.
inline constexpr double beyond_the_bound = 1.03;

/// One row for every (scenario, policy, cold or warm) that has run, in the order of the scenarios,
/// and of the policies in each. rws is paired by scenario, repeat, root and graph, so that drift of
/// the machine and the luck of the root cancel.
[[nodiscard]] std::vector<result_row> rows_of(const experiment&, const experiment_result&);

/// The graph or the workload, as a row names it.
[[nodiscard]] std::string graph_name(const experiment&);

/// Whether the policy makes a plan before the run, from costs that it is told.
[[nodiscard]] bool is_planned(std::string_view policy) noexcept;

}  // namespace kilter::lab
