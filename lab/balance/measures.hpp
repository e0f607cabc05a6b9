#pragma once
// What S4 (papers.md S4) judges schedulers by.

#include <optional>
#include <span>
#include <vector>

namespace kilter::balance {

/// Eq. 4: 1 minus the mean, over benchmarks, of the coefficient of variation of the run times of
/// their threads. At most 1; needs a benchmark.
[[nodiscard]] double run_time_fairness(std::span<const std::vector<double>> run_times_s);

/// Largest over smallest slowdown; `alone_s[i]` is what thread or benchmark i takes by itself, both
/// above 0.
[[nodiscard]] double slowdown_ratio(std::span<const double> together_s,
                                    std::span<const double> alone_s);

[[nodiscard]] double arithmetic_mean(std::span<const double>);
[[nodiscard]] double geometric_mean(std::span<const double>);

}  // namespace kilter::balance
