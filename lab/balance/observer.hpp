#pragma once
// First stage (papers.md S4, section III-A): what one quantum says about each thread and each core.
// Plain data in, plain data out.

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "balance/contract.hpp"

namespace kilter::balance {

inline constexpr std::uint32_t never_swapped = std::numeric_limits<std::uint32_t>::max();

/// A thread as the later stages see it.
struct thread_view {
  thread_id thread = 0;
  program_id program = 0;
  core_id core = no_core;
  thread_class kind = thread_class::unknown;
  /// memory accesses (misses) per second of this quantum; 0 if the observer sees only classes
  double rate_per_s = 0.0;
  bool background = false;
  bool movable = true;
  /// 1: exchanged at the end of the quantum before this one
  std::uint32_t quanta_since_swap = never_swapped;
};

/// The threads that ran or wanted to, by thread. Of class memory is who misses more than
/// `memory_above` of its references (papers.md A5.1), where no ratio is seen, whom the observer
/// calls so. With rates, a thread whose misses were not seen is left out; so is one that is on no
/// core.
[[nodiscard]] std::vector<thread_view> view_threads(const observation&, double memory_above);

/// Accesses per second achieved on each core, all its threads together; none where no thread was.
[[nodiscard]] std::vector<std::optional<double>> achieved_by_core(std::span<const thread_view>,
                                                                  std::uint32_t cores);

/// What CoreBW is the mean of.
struct bandwidth_history {
  struct of_core {
    double mean_per_s = 0.0;
    std::uint64_t quanta = 0;
    /// the last `window` quanta, as a ring; empty if the mean is over all
    std::vector<double> recent;
  };
  std::vector<of_core> cores;
};

/// Adds one quantum; a core that was empty keeps its mean. `window` 0: the mean is over all quanta
/// (papers.md A5.2).
void add_quantum(bandwidth_history&, std::span<const std::optional<double>> achieved_per_s,
                 std::uint32_t window);

/// CoreBW of each core; none for a core that never had a thread.
[[nodiscard]] std::vector<std::optional<double>> core_bandwidth(const bandwidth_history&);

enum class core_side : std::uint8_t { unknown, low, high };

/// High is above the median of CoreBW. A core leaves its side only when it is more than
/// `hysteresis` beyond the median (papers.md E35). Before may be empty.
[[nodiscard]] std::vector<core_side> bandwidth_sides(
    std::span<const std::optional<double>> core_bandwidth, std::span<const core_side> before,
    double hysteresis = 0.05);

/// Sides that do not change: `high`, and all others low.
[[nodiscard]] std::vector<core_side> fixed_sides(std::span<const core_id> high,
                                                 std::uint32_t cores);

/// Standard deviation over mean; 0 for fewer than two values or a mean of 0.
[[nodiscard]] double coefficient_of_variation(std::span<const double>);

/// How unequal the access rates are; the fairness gate closes below theta_f. By program, and the
/// mean over the programs with at least two threads (papers.md E38); over all threads if `global`,
/// or if no program has two. Threads in the background do not count (E40).
[[nodiscard]] double access_cv(std::span<const thread_view>, bool global);

}  // namespace kilter::balance
