#pragma once
// Sixth stage (papers.md S4, section III-F, Algorithm 2): how many threads to exchange and how
// often, one step a call.
//
//   goal         B (M = C)                   UC (more C)                             UM (more M)
//   fairness     quantum shorter, >= 100 ms  swapSize + 2, shorter, >= 200           swapSize + 2,
//   shorter, >= 500 performance  quantum longer, <= 1000 ms  swapSize + 2, longer, <= 1000 longer,
//   <= 1000
//
// swapSize grows to half of the running threads: to 16 with S4's 32.

#include <array>
#include <cstdint>
#include <span>

#include "balance/catalogue.hpp"
#include "balance/observer.hpp"

namespace kilter::balance {

/// The quanta that a step goes through (papers.md E43).
inline constexpr std::array<double, 4> adaptive_quanta_s = {0.1, 0.2, 0.5, 1.0};

struct swap_configuration {
  std::uint32_t swap_size = 8;
  double quantum_s = 0.5;  ///< one of `adaptive_quanta_s`

  friend bool operator==(const swap_configuration&, const swap_configuration&) = default;
};

/// B, UC and UM of S4.
enum class workload_mix : std::uint8_t { balanced, more_compute, more_memory };

/// Over all threads but those flagged background (papers.md E40).
[[nodiscard]] workload_mix mix_of(std::span<const thread_view>);

/// Half of the threads that may be moved and are not in the background, as an even number; at least
/// 2 (papers.md E36).
[[nodiscard]] std::uint32_t most_swapped(std::span<const thread_view>);

/// The next configuration; swapSize grows to `most`. While the system is fair nothing changes, or,
/// if `bidirectional`, it goes one step back towards <8, 500> (papers.md E33). As printed, a floor
/// also lifts a quantum that is below it already (E33).
[[nodiscard]] swap_configuration next_configuration(swap_configuration, goal, workload_mix,
                                                    bool fair, bool bidirectional,
                                                    std::uint32_t most);

}  // namespace kilter::balance
