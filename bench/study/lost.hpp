#pragma once
// What a scheduler loses when the machine changes under it.

#include <cstdint>
#include <vector>

namespace kilter::bench {

/// For each change of a wave (every `half_s` seconds from `start`) that the run lived through: the
/// milliseconds by which the first fifth of a second after the change did less than the rest of
/// that half, at this run's own pace. `ends` and `start` are cycle counts; negative values mean
/// that it did more.
[[nodiscard]] std::vector<double> lost_at_changes(std::vector<std::uint64_t> ends,
                                                  std::uint64_t start, double cycles_per_s,
                                                  double half_s);

}  // namespace kilter::bench
