#pragma once
// Fourth stage (papers.md S4, section III-D): each pair on its own, exchanged or not.

#include <cstdint>
#include <optional>

#include "balance/predictor.hpp"

namespace kilter::balance {

enum class swap_verdict : std::uint8_t { exchange, cooling_down, no_profit };

struct decision_rules {
  std::uint32_t cool_down = 1;       ///< quanta in which a thread that was exchanged stays
  double profit_margin_per_s = 0.0;  ///< least totalProfit (papers.md E37)
};

/// Without a forecast (nothing may be predicted) only the cool-down counts, and so it does for a
/// turn: Eq. 3 adds what one thread wins to what its like loses, and stays negative for good once
/// CoreBW remembers a thread of the other class. A profit of 0 is enough; what rounding alone makes
/// negative counts as 0, since in a steady state all terms of Eq. 3 cancel.
[[nodiscard]] swap_verdict decide_swap(const thread_pair&, const std::optional<swap_forecast>&,
                                       const decision_rules&);

}  // namespace kilter::balance
