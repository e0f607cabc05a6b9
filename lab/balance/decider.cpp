#include "balance/decider.hpp"

#include <algorithm>

namespace kilter::balance {

swap_verdict decide_swap(const thread_pair& pair, const std::optional<swap_forecast>& forecast,
                         const decision_rules& rules) {
  if (std::min(pair.low.quanta_since_swap, pair.high.quanta_since_swap) <= rules.cool_down)
    return swap_verdict::cooling_down;
  if (!forecast || pair.why == reason::rotation) return swap_verdict::exchange;
  constexpr double rounding = 1e-12;
  const double slack = rounding * (pair.low.rate_per_s + pair.high.rate_per_s);
  return forecast->profit_per_s < rules.profit_margin_per_s - slack ? swap_verdict::no_profit
                                                                    : swap_verdict::exchange;
}

}  // namespace kilter::balance
