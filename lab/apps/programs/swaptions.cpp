#include "apps/programs/swaptions.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "apps/programs/mixed_bits.hpp"
#include "apps/programs/swaptions_random.hpp"
#include "kilter/error.hpp"

namespace kilter::apps {

// ---- the parallel part --------------------------------------------------------------------------

// One step with one loop: a swaption is a block and needs nothing of the others.
program_run swaptions::run(executor& how, const std::function<bool()>& stopped) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  estimates_.assign(priced_.size(), {none, none, none, none});
  left_out_ = false;
  const auto price_all = [&](step_loops& loops) {
    loops.run(0, priced_.size(), [&](std::size_t which) { simulate(which, stopped); });
    return false;
  };
  program_run r =
      run_in_steps(how, {.cut = options_.cut, .loops = {"simulate"}}, price_all, stopped);
  r.complete = r.complete && !left_out_;
  return r;
}

// ---- one block ----------------------------------------------------------------------------------

/// A block may take minutes, so it asks whether it should go on.
void swaptions::simulate(std::size_t which, const std::function<bool()>& stopped) {
  double sum = 0, squares = 0, bonds = 0, last = 0;
  for (std::uint64_t first = 0; first < options_.simulations; first += lanes) {
    if (first % 1024 == 0 && (left_out_ || stopped())) {
      left_out_ = true;
      return;
    }
    const lane_result r = simulate_lanes(which, first);
    for (std::size_t lane = 0; lane < std::min<std::uint64_t>(lanes, options_.simulations - first);
         ++lane) {
      sum += r.price[lane];
      squares += r.price[lane] * r.price[lane];
      bonds += last = r.bond[lane];
    }
  }
  const auto n = static_cast<double>(options_.simulations);
  estimates_[which] = {sum / n, std::sqrt(std::max(0.0, squares - sum * sum / n) / (n - 1) / n),
                       bonds / n, last};
}

/// Moves the rates up to expiry. There the bonds that the swap is worth are known, and what it pays
/// is brought back to today at the rates that there were.
swaptions::lane_result swaptions::simulate_lanes(std::size_t which,
                                                 std::uint64_t first) const noexcept {
  const swaption& s = priced_[which];
  const std::size_t begin = s.expiry * periods_a_year, end = begin + s.tenor * periods_a_year;
  lane_curve rates;
  for (std::size_t j = 0; j < end; ++j) rates[j].fill(model_.forward[j]);
  lane_values interest{};  // of 1 that is kept from today
  for (std::size_t now = 0; now < begin; ++now) {
    for (std::size_t lane = 0; lane < lanes; ++lane)
      interest[lane] += rates[now][lane] * years_a_period;
    const auto moves = normals(which, first, now);
    for (std::size_t j = now + 1; j < end; ++j) {
      const std::size_t later = j - now;
      const double drift = drift_[later], level = deviation_[0][later],
                   slope = deviation_[1][later], bend = deviation_[2][later];
      lane_values& rate = rates[j];
#pragma omp simd
      for (std::size_t lane = 0; lane < lanes; ++lane)
        rate[lane] +=
            drift + level * moves[0][lane] + slope * moves[1][lane] + bend * moves[2][lane];
    }
  }
  lane_values paid{}, further = interest, bond{};
  for (std::size_t year = 1; year <= s.tenor; ++year) {
    for (std::size_t j = begin + (year - 1) * periods_a_year; j < begin + year * periods_a_year;
         ++j)
      for (std::size_t lane = 0; lane < lanes; ++lane)
        further[lane] += rates[j][lane] * years_a_period;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      bond[lane] = std::exp(-further[lane]);
      paid[lane] += s.strike * bond[lane];
    }
  }
  lane_result r{};
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const double gain = std::exp(-interest[lane]) - paid[lane] - bond[lane];
    r.price[lane] = std::max(0.0, s.payer ? gain : -gain);
  }
  r.bond = bond;
  return r;
}

/// The same for a swaption, a simulation and a period, whoever asks. One random word of four is
/// left over.
std::array<swaptions::lane_values, rate_model::factors> swaptions::normals(
    std::size_t which, std::uint64_t first, std::size_t period) const noexcept {
  std::array<lane_values, rate_model::factors> all;
  const std::array<std::uint32_t, 2> key{static_cast<std::uint32_t>(options_.seed),
                                         static_cast<std::uint32_t>(options_.seed >> 32)};
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const auto words =
        philox({static_cast<std::uint32_t>(first + lane), static_cast<std::uint32_t>(period),
                static_cast<std::uint32_t>(which), 0},
               key);
    for (std::size_t f = 0; f < rate_model::factors; ++f)
      all[f][lane] = inverse_normal(uniform_of(words[f]));
  }
  return all;
}

// ---- before and after ---------------------------------------------------------------------------

namespace {

std::size_t periods_of(const swaption& s) { return (s.expiry + s.tenor) * periods_a_year; }

std::string number(double value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

void refuse_bad_numbers(const swaption& s) {
  if (!(s.strike > 0 && s.strike <= 1))
    throw input_error("swaptions: strike " + number(s.strike) +
                      ": write a number above 0, up to 1 (3 % is 0.03)");
  for (const auto& [option, years] : {std::pair{"--expiry ", s.expiry}, {"--tenor ", s.tenor}})
    if (years < 1 || years > most_years)
      throw input_error(option + std::to_string(years) + ": write whole years from 1 to " +
                        std::to_string(most_years));
}

}  // namespace

/// The drift follows from the volatilities, or money could be made without risk: with it, what a
/// bond is worth in money that is kept grows no more in the mean.
swaptions::swaptions(rate_model m, std::vector<swaption> priced, const swaptions_options& o)
    : model_(std::move(m)), priced_(std::move(priced)), options_(o) {
  if (priced_.empty()) throw input_error("--swaptions 0: at least 1");
  if (o.simulations < 2 || o.simulations > 1'000'000'000)
    throw input_error("--simulations " + std::to_string(o.simulations) +
                      ": write a number from 2 to 1000000000");
  for (const swaption& s : priced_) {
    refuse_bad_numbers(s);
    if (periods_of(s) > model_.forward.size())
      throw input_error("swaptions: the model has " + std::to_string(model_.forward.size()) +
                        " rates: a swaption needs " + std::to_string(periods_of(s)));
  }
  drift_.assign(model_.forward.size(), 0.0);
  for (std::size_t f = 0; f < rate_model::factors; ++f) {
    deviation_[f].assign(drift_.size(), 0.0);
    double before = 0;
    for (std::size_t later = 1; later < drift_.size(); ++later) {
      deviation_[f][later] =
          model_.volatility[f] *
          std::exp(-model_.decay[f] * years_a_period * static_cast<double>(later)) *
          std::sqrt(years_a_period);
      const double until = before + deviation_[f][later];
      drift_[later] += (until * until - before * before) / 2 * years_a_period;
      before = until;
    }
  }
}

rate_model rising_rates(std::size_t periods) {
  rate_model m;
  for (std::size_t j = 0; j < periods; ++j)
    m.forward.push_back(.04 - .02 * std::exp(-.3 * years_a_period * static_cast<double>(j)));
  return m;
}

double fair_strike(const rate_model& m, std::size_t expiry, std::size_t tenor) {
  double interest = 0, first = 0, last = 0, paid = 0;
  for (std::size_t j = 0; j < (expiry + tenor) * periods_a_year; ++j) {
    if (j == expiry * periods_a_year) first = std::exp(-interest);
    interest += m.forward[j] * years_a_period;
    if ((j + 1) % periods_a_year != 0 || j < expiry * periods_a_year) continue;
    last = std::exp(-interest);
    paid += last;
  }
  return (first - last) / paid;
}

std::vector<swaption> drawn_swaptions(std::size_t count, const rate_model& m, std::size_t expiry,
                                      std::size_t tenor, std::uint64_t seed) {
  const double fair = fair_strike(m, expiry, tenor);
  std::mt19937_64 random(seed);
  std::vector<swaption> all;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = random();
    const double strike =
        std::round(fair * (.7 + .6 * uniform_of(static_cast<std::uint32_t>(bits >> 32))) * 1e4);
    all.push_back({std::max(strike, 1.0) / 1e4, expiry, tenor, bits % 2 == 0});
  }
  return all;
}

std::string swaptions::about() const {
  std::uint64_t least = most_periods, most = 0;
  for (const swaption& s : priced_) {
    least = std::min<std::uint64_t>(least, s.expiry * periods_a_year);
    most = std::max<std::uint64_t>(most, s.expiry * periods_a_year);
  }
  return std::to_string(priced_.size()) + " swaptions, a task each, " +
         std::to_string(options_.simulations) + " simulations of " + std::to_string(least) +
         (most > least ? " to " + std::to_string(most) : "") + " periods";
}

std::uint64_t swaptions::fingerprint() const {
  mixed_bits mixed;
  for (const swaption_estimate& e : estimates_)
    for (const double value : {e.price, e.error, e.bond, e.last_bond}) mixed.add(value);
  return mixed.value();
}

std::string swaptions::result_file() const {
  std::string text = "side,strike,expiry,tenor,price,standard error\n";
  for (std::size_t i = 0; i < estimates_.size(); ++i) {
    const swaption& s = priced_[i];
    text += (s.payer ? "payer," : "receiver,") + number(s.strike) + "," + std::to_string(s.expiry) +
            "," + std::to_string(s.tenor) + "," + number(estimates_[i].price) + "," +
            number(estimates_[i].error) + "\n";
  }
  return text;
}

std::vector<std::string> swaptions::found() const {
  if (estimates_.empty()) return {};
  double sum = 0, squares = 0;
  for (const swaption_estimate& e : estimates_) {
    sum += e.price;
    squares += e.error * e.error;
  }
  const auto in_percent = [](double value) {
    char digits[400];
    return std::string(digits, std::to_chars(digits, digits + sizeof digits, 100 * value,
                                             std::chars_format::fixed, 4)
                                   .ptr) +
           " %";
  };
  const auto n = static_cast<double>(estimates_.size());
  return {"in the mean a swaption costs " + in_percent(sum / n) +
          " of its swap, with a standard error of " + in_percent(std::sqrt(squares) / n)};
}

}  // namespace kilter::apps
