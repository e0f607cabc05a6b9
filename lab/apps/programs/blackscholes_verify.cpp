// Prices of `blackscholes` once more: with another distribution, and puts by way of calls.

#include "apps/programs/blackscholes.hpp"

#include <cmath>
#include <sstream>

namespace kilter::apps {

namespace {

// By the library's erfc, which is right to the last digits.
double below(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

}  // namespace

void verify(const std::vector<european_option>& options, const std::vector<double>& prices) {
  if (prices.size() != options.size())
    throw wrong_result("blackscholes: nothing has been computed");
  for (std::size_t i = 0; i < options.size(); ++i) {
    const european_option& o = options[i];
    const double variance = o.volatility * o.volatility * o.years,
                 strike_now = o.strike * std::exp(-o.rate * o.years);
    const double middle = std::log(o.spot / strike_now) / std::sqrt(variance),
                 half = std::sqrt(variance) / 2;
    const double call = o.spot * below(middle + half) - strike_now * below(middle - half);
    const double wanted = o.call ? call : call - o.spot + strike_now;
    if (std::fabs(prices[i] - wanted) <= 1e-7 * (o.spot + strike_now)) continue;
    std::ostringstream line;
    line.precision(10);
    line << "blackscholes: option " << i + 1 << ", a " << (o.call ? "call" : "put") << " at "
         << o.strike << " on " << o.spot << ", is priced " << prices[i] << ", not " << wanted;
    throw wrong_result(line.str());
  }
}

}  // namespace kilter::apps
