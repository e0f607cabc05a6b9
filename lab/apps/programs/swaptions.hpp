#pragma once
// Prices of swaptions in the framework of Heath, Jarrow and Morton, by Monte Carlo. An application
// of S1 (papers.md A2.2).
//
// Unlike in the public code: rates of 2 to 4 % for each half year, strikes 0.7 to 1.3 of the fair
// one, expiry in 5 years; a random number depends on its place alone.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/programs/program.hpp"
#include "apps/programs/steps.hpp"

namespace kilter::apps {

/// How interest moves: each forward rate by three independent normal numbers in each period. Heath,
/// Jarrow, Morton, Bond Pricing and the Term Structure of Interest Rates (1992); in discrete time
/// as Glasserman, Monte Carlo Methods in Financial Engineering (2003), 3.6.2.
struct rate_model {
  static constexpr std::size_t factors = 3;

  /// today's rates, continuous, a year, one for each period of half a year
  std::vector<double> forward;
  /// of a rate that begins at once, by each factor, a year; the first above 0
  std::array<double, factors> volatility{.008, .007, .006};
  /// a rate that begins y years later moves by exp(-decay y) of that
  std::array<double, factors> decay{0, .25, 1.2};
};
inline constexpr std::size_t periods_a_year = 2;
inline constexpr double years_a_period = 1.0 / periods_a_year;
/// Rates that rise from 2 % to some 4 %.
[[nodiscard]] rate_model rising_rates(std::size_t periods);

/// The right to enter into a swap when it begins: to pay the strike once a year and get the
/// market's rate (payer), or the other way round.
struct swaption {
  double strike;       ///< a part of one, a year; above 0, at most 1
  std::size_t expiry;  ///< years until the swap begins; 1 .. 30
  std::size_t tenor;   ///< years that it lasts; 1 .. 30
  bool payer;
};
inline constexpr std::size_t most_years = 30;
/// The strike at which the swap is worth nothing today.
[[nodiscard]] double fair_strike(const rate_model&, std::size_t expiry, std::size_t tenor);
/// Strikes from .7 to 1.3 of the fair one, in hundredths of a percent; about half are payers.
[[nodiscard]] std::vector<swaption> drawn_swaptions(std::size_t count, const rate_model&,
                                                    std::size_t expiry, std::size_t tenor,
                                                    std::uint64_t seed);

/// Means over all simulations, for a swap of 1.
struct swaption_estimate {
  double price = 0, error = 0;  ///< the second is the standard error of the first
  /// what 1 at the end of the swap is worth today; known from today's rates, so it shows wrong
  /// simulations
  double bond = 0;
  /// the same in the last simulation alone, which can be computed without the others
  double last_bond = 0;
};
/// What these are with infinitely many simulations, and the means of their squares. By integration:
/// today's rates and volatilities make the logarithms of bonds normal.
struct swaption_moments {
  double price, price_square, bond, bond_square;
};
[[nodiscard]] swaption_moments integrated(const rate_model&, const swaption&);
struct swaptions_options {
  loop_cut cut = loop_cut::loop;
  std::uint64_t simulations = 10'000;  ///< of each swaption; 2 .. 1,000,000,000
  std::uint64_t seed = 1;              ///< of the simulations
};

/// The last simulation of each is what its random numbers make of today's rates in one formula, and
/// the means, each and all together, are as near to the integrals as chance allows, which fails for
/// less than one of 1,000 seeds. Throws wrong_result.
void verify(const rate_model&, const std::vector<swaption>&, const std::vector<swaption_estimate>&,
            const swaptions_options&);

struct swaptions_size {
  std::string_view name;
  std::size_t swaptions;
  std::uint64_t simulations;
};
/// `native` is S1's.
inline constexpr std::array<swaptions_size, 4> swaptions_sizes{{{"small", 128, 1000},
                                                                {"medium", 128, 7000},
                                                                {"large", 128, 60'000},
                                                                {"native", 128, 1'000'000}}};

class swaptions final : public program {
 public:
  /// input_error if there are no swaptions, one of them or the number of simulations is out of
  /// range, or the model has too few rates.
  swaptions(rate_model, std::vector<swaption>, const swaptions_options&);

  [[nodiscard]] std::string about() const override;
  program_run run(executor&, const std::function<bool()>& stopped) override;
  void verify() const override { apps::verify(model_, priced_, estimates_, options_); }
  [[nodiscard]] std::uint64_t fingerprint() const override;
  /// Swaptions, prices and standard errors (CSV).
  [[nodiscard]] std::string result_file() const override;
  [[nodiscard]] std::vector<std::string> found() const override;

  /// In the order of the swaptions.
  [[nodiscard]] const std::vector<swaption_estimate>& estimates() const noexcept {
    return estimates_;
  }

 private:
  /// simulations at a time, so that the processor's vector units have work
  static constexpr std::size_t lanes = 16;
  static constexpr std::size_t most_periods = 2 * most_years * periods_a_year;
  using lane_values = std::array<double, lanes>;
  /// For each period from now: rates, or what they change by.
  using lane_curve = std::array<lane_values, most_periods>;
  struct lane_result {
    lane_values price, bond;
  };

  void simulate(std::size_t which, const std::function<bool()>& stopped);
  [[nodiscard]] lane_result simulate_lanes(std::size_t which, std::uint64_t first) const noexcept;
  [[nodiscard]] std::array<lane_values, rate_model::factors> normals(
      std::size_t which, std::uint64_t first, std::size_t period) const noexcept;

  const rate_model model_;
  const std::vector<swaption> priced_;
  const swaptions_options options_;
  /// of a rate that begins so many periods from now, a period
  std::vector<double> drift_;
  /// what a normal number of 1 adds to it
  std::array<std::vector<double>, rate_model::factors> deviation_;
  std::vector<swaption_estimate> estimates_;
  /// a block saw that the program was stopped
  std::atomic<bool> left_out_{false};
};

}  // namespace kilter::apps
