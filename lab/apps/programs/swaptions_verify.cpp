// Prices of `swaptions` without chance. The volatilities are those of Gaussian rates, and each
// factor's fall off exponentially, so all bonds at expiry follow from three independent normal
// numbers. Given two of them, what the swap is worth rises with the third, and the integral over it
// is a sum of normal distributions (Jamshidian, An Exact Bond Option Formula, 1989). The other two
// are integrated by the trapezoid rule. One simulation of each swaption is also computed exactly:
// this shows what is smaller than chance.

#include "apps/programs/swaptions.hpp"

#include <cmath>
#include <sstream>

#include "apps/programs/swaptions_random.hpp"

namespace kilter::apps {

namespace {

double below(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

/// What one factor has done by expiry: a normal number y, which takes B(i) y off the logarithm of a
/// bond that ends in year i of the swap, and the interest until then, which depends on it.
struct factor_at_expiry {
  double variance = 0;  ///< of y
  double interest_variance = 0;
  double covariance = 0;            ///< of y and interest
  std::vector<double> sensitivity;  ///< B of each year
  /// what a normal number of 1 in each period takes off the logarithm of today's value of the last
  /// bond
  std::vector<double> bond_moves;
  double bond_variance = 0;  ///< of all of them

  factor_at_expiry(double volatility, double decay, const swaption& s)
      : bond_moves(s.expiry * periods_a_year) {
    const auto fallen = [&](std::size_t periods) {
      return std::exp(-decay * years_a_period * static_cast<double>(periods));
    };
    double sum = 0;
    for (std::size_t j = 0; j < s.tenor * periods_a_year; ++j) {
      sum += years_a_period * fallen(j);
      if ((j + 1) % periods_a_year == 0) sensitivity.push_back(sum);
    }
    const double moved = volatility * std::sqrt(years_a_period);
    double earned = 0;  // interest by expiry of what moves the rates by 1, `left` periods before
    for (std::size_t left = 1; left <= bond_moves.size(); ++left) {
      variance += std::pow(moved * fallen(left), 2);
      interest_variance += std::pow(moved * earned, 2);
      covariance += moved * fallen(left) * moved * earned;
      const double move = bond_moves[bond_moves.size() - left] =
          moved * (earned + fallen(left) * sensitivity.back());
      bond_variance += move * move;
      earned += years_a_period * fallen(left);
    }
  }
};
using all_factors = std::array<factor_at_expiry, rate_model::factors>;

all_factors factors_of(const rate_model& m, const swaption& s) {
  const auto factor = [&](std::size_t f) {
    return factor_at_expiry(m.volatility[f], m.decay[f], s);
  };
  return {factor(0), factor(1), factor(2)};
}

struct payoff {
  double mean, square;
};

/// Bonds at expiry, as a share of what 1 at expiry is worth, and what is paid for them.
struct bonds_at_expiry {
  const all_factors& factors;
  std::vector<double> forward, coupon;

  /// Over the first factor, which has the mean `mean`; bonds are worth `value` where it is 0.
  [[nodiscard]] payoff given(const std::vector<double>& value, double mean, bool payer) const {
    const std::vector<double>& b = factors[0].sensitivity;
    const double variance = factors[0].variance, deviation = std::sqrt(variance);
    const double edge = where_worth_nothing(value);
    const auto part = [&](double sensitivity) {  // the mean of exp(-sensitivity y) where it pays
      const double distance = (mean - sensitivity * variance - edge) / deviation;
      return std::exp(-sensitivity * mean + sensitivity * sensitivity * variance / 2) *
             below(payer ? distance : -distance);
    };
    double once = 0, twice = 0;
    for (std::size_t i = 0; i < value.size(); ++i) {
      once += coupon[i] * value[i] * part(b[i]);
      for (std::size_t j = 0; j < value.size(); ++j)
        twice += coupon[i] * value[i] * coupon[j] * value[j] * part(b[i] + b[j]);
    }
    const double all = part(0);
    return {payer ? all - once : once - all, all - 2 * once + twice};
  }

  /// Newton's method on the logarithm, which is almost straight.
  [[nodiscard]] double where_worth_nothing(const std::vector<double>& value) const {
    double y = 0;
    for (int i = 0; i < 100; ++i) {
      double sum = 0, slope = 0;
      for (std::size_t k = 0; k < value.size(); ++k) {
        const double now = coupon[k] * value[k] * std::exp(-factors[0].sensitivity[k] * y);
        sum += now;
        slope += now * factors[0].sensitivity[k];
      }
      const double step = std::log(sum) * sum / slope;
      y += step;
      if (std::fabs(step) < 1e-14) break;
    }
    return y;
  }

  /// Over all factors. The trapezoid rule is right to 1e-15 for a normal density at this width.
  [[nodiscard]] payoff over_all(const std::array<double, rate_model::factors>& means,
                                bool payer) const {
    constexpr int reach = 11;
    constexpr double width = 0.75, root_of_2_pi = 2.506628274631000502;
    payoff sum{0, 0};
    std::vector<double> value(forward.size());
    for (int i = -reach; i <= reach; ++i)
      for (int j = -reach; j <= reach; ++j) {
        const double u = i * width, v = j * width,
                     weight = std::pow(width / root_of_2_pi, 2) * std::exp(-(u * u + v * v) / 2);
        const double y1 = means[1] + u * std::sqrt(factors[1].variance),
                     y2 = means[2] + v * std::sqrt(factors[2].variance);
        for (std::size_t k = 0; k < value.size(); ++k) {
          double half = 0;
          for (const factor_at_expiry& f : factors)
            half += f.sensitivity[k] * f.sensitivity[k] * f.variance / 2;
          value[k] = forward[k] * std::exp(-half - factors[1].sensitivity[k] * y1 -
                                           factors[2].sensitivity[k] * y2);
        }
        const payoff here = given(value, means[0], payer);
        sum.mean += weight * here.mean;
        sum.square += weight * here.square;
      }
    return sum;
  }
};

}  // namespace

swaption_moments integrated(const rate_model& m, const swaption& s) {
  const all_factors factors = factors_of(m, s);
  double interest = 0;
  for (std::size_t j = 0; j < s.expiry * periods_a_year; ++j)
    interest += m.forward[j] * years_a_period;
  const double at_expiry = std::exp(-interest);
  bonds_at_expiry bonds{factors, {}, std::vector<double>(s.tenor, s.strike)};
  bonds.coupon.back() += 1;
  for (std::size_t year = 0; year < s.tenor; ++year) {
    for (std::size_t j = 0; j < periods_a_year; ++j)
      interest += m.forward[(s.expiry + year) * periods_a_year + j] * years_a_period;
    bonds.forward.push_back(std::exp(-interest) / at_expiry);
  }
  // In money that is worth 1 at expiry all means are 0. The squares are weighted with the interest
  // once more, which moves the means.
  std::array<double, rate_model::factors> moved{};
  double interest_variance = 0, bond_variance = 0;
  for (std::size_t f = 0; f < rate_model::factors; ++f) {
    moved[f] = -factors[f].covariance;
    interest_variance += factors[f].interest_variance;
    bond_variance += factors[f].bond_variance;
  }
  const double bond = std::exp(-interest);
  return {
      at_expiry * bonds.over_all({}, s.payer).mean,
      at_expiry * at_expiry * std::exp(interest_variance) * bonds.over_all(moved, s.payer).square,
      bond, bond * bond * std::exp(bond_variance)};
}

namespace {

/// What 1 at the end of the swap is worth today, in one simulation. Its logarithm is normal, and
/// its mean must be the bond of today, which says all about it: no drift is needed, and no rate is
/// followed.
double bond_in(std::uint64_t simulation, std::size_t which, const rate_model& m, const swaption& s,
               std::uint64_t seed) {
  double logarithm = 0;
  for (std::size_t j = 0; j < (s.expiry + s.tenor) * periods_a_year; ++j)
    logarithm -= m.forward[j] * years_a_period;
  const all_factors factors = factors_of(m, s);
  for (const factor_at_expiry& f : factors) logarithm -= f.bond_variance / 2;
  for (std::uint32_t period = 0; period < s.expiry * periods_a_year; ++period) {
    const auto words = philox(
        {static_cast<std::uint32_t>(simulation), period, static_cast<std::uint32_t>(which), 0},
        {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
    for (std::size_t f = 0; f < factors.size(); ++f)
      logarithm -= factors[f].bond_moves[period] * inverse_normal(uniform_of(words[f]));
  }
  return std::exp(logarithm);
}

/// Bernstein's inequality for the mean of n values that chance spreads by `variance` and that are
/// at most `most`: fails twice in exp(15) = 3.3 million.
double chance(double variance, double most, double n) {
  constexpr double x = 15;
  return std::sqrt(2 * x * std::fmax(variance, 0) / n) + most * x / (3 * n);
}

void compare(const std::string& which, const char* what, double got, double wanted,
             double allowed) {
  if (std::fabs(got - wanted) <= allowed) return;
  std::ostringstream line;
  line.precision(8);
  line << "swaptions: " << which << ": " << what << " is " << got << ", not " << wanted
       << " within " << allowed;
  throw wrong_result(line.str());
}

/// Of one quantity: each of its means, then all together.
class comparison {
 public:
  comparison(const char* what, double simulations) : what_(what), n_(simulations) {}

  void add(const std::string& which, double got, double wanted, double variance, double most) {
    compare(which, what_, got, wanted, chance(variance, most, n_));
    got_ += got;
    wanted_ += wanted;
    variance_ += variance;
    most_ = std::fmax(most_, most);
  }
  void compare_all() const {
    compare("all swaptions together", what_, got_, wanted_, chance(variance_, most_, n_));
  }

 private:
  const char* const what_;
  const double n_;
  double got_ = 0, wanted_ = 0, variance_ = 0, most_ = 0;
};

}  // namespace

void verify(const rate_model& m, const std::vector<swaption>& priced,
            const std::vector<swaption_estimate>& estimates, const swaptions_options& o) {
  if (estimates.size() != priced.size()) throw wrong_result("swaptions: nothing has been computed");
  const auto n = static_cast<double>(o.simulations);
  comparison price("the price", n), square("the mean square by the standard error", n),
      bond("the bond of its end", n);
  for (std::size_t i = 0; i < priced.size(); ++i) {
    const swaption& s = priced[i];
    const swaption_estimate& e = estimates[i];
    const swaption_moments wanted = integrated(m, s);
    const std::string which =
        "swaption " + std::to_string(i + 1) + ", a " + (s.payer ? "payer" : "receiver");
    const double last = bond_in(o.simulations - 1, i, m, s, o.seed);
    compare(which, "the bond of its end in the last simulation", e.last_bond, last, 1e-10 * last);
    // where no rate is below 0
    const double most = s.payer ? 1 : s.strike * static_cast<double>(s.tenor) + 1;
    bond.add(which, e.bond, wanted.bond, wanted.bond_square - wanted.bond * wanted.bond, 1);
    price.add(which, e.price, wanted.price, wanted.price_square - wanted.price * wanted.price,
              most);
    square.add(which, e.error * e.error * (n - 1) + e.price * e.price, wanted.price_square,
               most * most * wanted.price_square, most * most);
  }
  for (const comparison* c : {&bond, &price, &square}) c->compare_all();
}

}  // namespace kilter::apps
