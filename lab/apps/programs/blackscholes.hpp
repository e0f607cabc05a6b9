#pragma once
// Prices of European options by the closed form of Black and Scholes (1973), many times over. An
// application of S1 (papers.md A2.2).
//
// Unlike in the public code: double instead of float; all options differ, where 1,000 were read
// again and again.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apps/programs/program.hpp"
#include "apps/programs/steps.hpp"

namespace kilter::apps {

/// The right to buy (call) or sell (put) a share that pays no dividend, at its end and only then.
struct european_option {
  double spot, strike;  ///< what the share costs now, and with the option; 1e-6 .. 1e12
  double rate;          ///< of interest without risk, a year, continuous; a part of one, -1 .. 1
  double volatility;    ///< of the share, a year; a part of one, 1e-4 .. 10
  double years;         ///< to the end; 1e-9 .. 500
  bool call;

  bool operator==(const european_option&) const = default;
};

/// What of it is outside its range and what would be right; empty if nothing is.
[[nodiscard]] std::string out_of_range(const european_option&);

/// The part of a normal distribution below x: Abramowitz and Stegun, Handbook of Mathematical
/// Functions (1964), 26.2.17. Wrong by less than 7.5e-8.
[[nodiscard]] double cumulative_normal(double x) noexcept;
/// Black and Scholes, The Pricing of Options and Corporate Liabilities (1973), equation 13, with
/// the distribution above. Never below 0.
[[nodiscard]] double black_scholes_price(const european_option&) noexcept;

/// As a market has them: prices in cents, rates and volatilities of few digits; strikes from half
/// to one and a half of the spot, half of them calls.
[[nodiscard]] std::vector<european_option> drawn_options(std::size_t count, std::uint64_t seed);
/// A line for each: spot, strike, rate, volatility, years, C or P, with commas, semicolons or tabs
/// between. Empty lines count for nothing, and a first line of words is a heading. input_error
/// naming `file` and the line for anything else, and for a table without options.
[[nodiscard]] std::vector<european_option> read_options(std::string_view text,
                                                        const std::string& file);

/// With std::erfc, and puts by the parity of puts and calls: each price within 1e-7 of spot and
/// discounted strike. Throws wrong_result.
void verify(const std::vector<european_option>&, const std::vector<double>& prices);

struct blackscholes_options {
  loop_cut cut = loop_cut::loop;
  std::uint64_t runs = 100;  ///< over all options; at least one
  /// a run, of equal lengths; at least one, and no more are made than there are options
  std::size_t tasks = 64;
  /// options in a task, in place of `tasks`; what is left over is priced by the step itself. 0: off
  std::size_t block_size = 0;
};

struct blackscholes_size {
  std::string_view name;
  std::size_t options;
  std::uint64_t runs;
};
/// `native` is S1's, whose 6,400 tasks are 64 in each of 100 runs.
inline constexpr std::array<blackscholes_size, 4> blackscholes_sizes{{{"small", 10'000, 20},
                                                                      {"medium", 60'000, 100},
                                                                      {"large", 600'000, 100},
                                                                      {"native", 10'000'000, 100}}};

class blackscholes final : public program {
 public:
  /// input_error if there are no options, one is out of range, or a block is longer than all of
  /// them.
  blackscholes(std::vector<european_option>, const blackscholes_options&);

  [[nodiscard]] std::string about() const override;
  program_run run(executor&, const std::function<bool()>& stopped) override;
  void verify() const override { apps::verify(priced_, prices_); }
  [[nodiscard]] std::uint64_t fingerprint() const override;
  /// The options and their prices (CSV).
  [[nodiscard]] std::string result_file() const override;
  [[nodiscard]] std::vector<std::string> found() const override;

  /// In the order of the options.
  [[nodiscard]] const std::vector<double>& prices() const noexcept { return prices_; }

 private:
  struct range {
    std::size_t first, last;
  };

  [[nodiscard]] std::size_t tasks() const noexcept;
  [[nodiscard]] range block(std::size_t) const noexcept;
  [[nodiscard]] range rest() const noexcept;
  void price(range) noexcept;

  const std::vector<european_option> priced_;
  const blackscholes_options options_;
  std::vector<double> prices_;
};

}  // namespace kilter::apps
