#pragma once
// What it costs to take over cache lines that another core has written.

#include <utility>
#include <vector>

#include "kilter/machine.hpp"

namespace kilter::lab {

/// Two pinned threads hand a buffer to and fro and change each of its lines twice: the first time
/// they come from the other's cache, the second time from their own. By turn, how many seconds a
/// line took more the first time, never below 0. Empty if the threads cannot be pinned or the
/// process is interrupted.
[[nodiscard]] std::vector<double> moved_line_s(const core& one, const core& other, double seconds);

/// Pairs of cores whose lines speak for all: the first and last core of each cluster, and of two
/// clusters that follow one another the first of each.
struct core_pairs {
  using list = std::vector<std::pair<core_id, core_id>>;
  list in_cluster, between_clusters;
};
[[nodiscard]] core_pairs pairs_of(const machine&);

}  // namespace kilter::lab
