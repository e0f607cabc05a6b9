#include "apps/programs/blackscholes.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "apps/programs/mixed_bits.hpp"
#include "kilter/error.hpp"

namespace kilter::apps {

// ---- the parallel part --------------------------------------------------------------------------

// A step is a run over all options. Each run computes all prices again: a compiler cannot know that
// they come out the same, as it does not see who calls the body of a loop.
program_run blackscholes::run(executor& how, const std::function<bool()>& stopped) {
  prices_.assign(priced_.size(), std::numeric_limits<double>::quiet_NaN());
  std::uint64_t made = 0;
  const auto one_run = [&](step_loops& loops) {
    price(rest());
    loops.run(0, tasks(), [this](std::size_t b) { price(block(b)); });
    return ++made < options_.runs;
  };
  return run_in_steps(how, {.cut = options_.cut, .loops = {"price"}}, one_run, stopped);
}

// ---- one block ----------------------------------------------------------------------------------

void blackscholes::price(range of) noexcept {
  for (std::size_t i = of.first; i < of.last; ++i) prices_[i] = black_scholes_price(priced_[i]);
}

double cumulative_normal(double x) noexcept {
  constexpr double root_of_2_pi = 2.506628274631000502;
  const double t = 1 / (1 + 0.2316419 * std::fabs(x));
  const double polynomial =
      t *
      (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  const double above = std::exp(-0.5 * x * x) / root_of_2_pi * polynomial;
  return x < 0 ? above : 1 - above;
}

double black_scholes_price(const european_option& o) noexcept {
  const double deviation = o.volatility * std::sqrt(o.years);
  const double d1 =
      (std::log(o.spot / o.strike) + (o.rate + 0.5 * o.volatility * o.volatility) * o.years) /
      deviation;
  const double n1 = cumulative_normal(d1), n2 = cumulative_normal(d1 - deviation),
               strike_now = o.strike * std::exp(-o.rate * o.years);
  const double price =
      o.call ? o.spot * n1 - strike_now * n2 : strike_now * (1 - n2) - o.spot * (1 - n1);
  // options that are worth next to nothing would else be worth less, by the error of the polynomial
  return std::max(price, 0.0);
}

std::size_t blackscholes::tasks() const noexcept {
  return options_.block_size ? priced_.size() / options_.block_size
                             : std::min(options_.tasks, priced_.size());
}

blackscholes::range blackscholes::block(std::size_t b) const noexcept {
  if (const std::size_t length = options_.block_size) return {b * length, (b + 1) * length};
  return {priced_.size() * b / tasks(), priced_.size() * (b + 1) / tasks()};
}

/// What no block has.
blackscholes::range blackscholes::rest() const noexcept {
  return {block(tasks() - 1).last, priced_.size()};
}

// ---- before and after ---------------------------------------------------------------------------

blackscholes::blackscholes(std::vector<european_option> priced, const blackscholes_options& o)
    : priced_(std::move(priced)), options_(o) {
  if (priced_.empty()) throw input_error("blackscholes: there are no options to price");
  for (std::size_t i = 0; i < priced_.size(); ++i)
    if (const std::string wrong = out_of_range(priced_[i]); !wrong.empty())
      throw input_error("blackscholes: option " + std::to_string(i + 1) + ": " + wrong);
  if (o.runs == 0) throw input_error("--runs 0: at least 1");
  if (o.tasks == 0) throw input_error("--tasks 0: at least 1");
  if (o.block_size > priced_.size())
    throw input_error("--block-size " + std::to_string(o.block_size) + ": there are " +
                      std::to_string(priced_.size()) + " options");
}

std::string blackscholes::about() const {
  const std::size_t more = rest().last - rest().first;
  return std::to_string(priced_.size()) + " options, " + std::to_string(options_.runs) +
         " runs of " + std::to_string(tasks()) + " tasks" +
         (more ? " and " + std::to_string(more) + " options" : "");
}

std::uint64_t blackscholes::fingerprint() const {
  mixed_bits mixed;
  for (const double price : prices_) mixed.add(price);
  return mixed.value();
}

std::string blackscholes::result_file() const {
  std::string text = "spot,strike,rate,volatility,years,type,price\n";
  const auto add = [&text](double value) {
    char digits[32];
    text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  };
  for (std::size_t i = 0; i < prices_.size(); ++i) {
    const european_option& o = priced_[i];
    for (const double value : {o.spot, o.strike, o.rate, o.volatility, o.years}) {
      add(value);
      text += ',';
    }
    text += o.call ? "C," : "P,";
    add(prices_[i]);
    text += '\n';
  }
  return text;
}

std::vector<std::string> blackscholes::found() const {
  std::array<double, 2> worth{};
  std::array<std::size_t, 2> count{};
  for (std::size_t i = 0; i < prices_.size(); ++i) {
    worth[priced_[i].call] += prices_[i];
    ++count[priced_[i].call];
  }
  const auto in_cents = [](double value) {
    char digits[400];
    return std::string(
        digits,
        std::to_chars(digits, digits + sizeof digits, value, std::chars_format::fixed, 2).ptr);
  };
  return {"one of each is worth " + in_cents(worth[0] + worth[1]) + ": " +
          std::to_string(count[1]) + " calls " + in_cents(worth[1]) + ", " +
          std::to_string(count[0]) + " puts " + in_cents(worth[0])};
}

}  // namespace kilter::apps
