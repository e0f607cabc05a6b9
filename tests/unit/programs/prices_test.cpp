// Options and swaptions: the same bits under every model, the prices that books, integrals and
// closed forms have, and tables that are read or refused.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "apps/programs/blackscholes.hpp"
#include "apps/programs/swaptions.hpp"
#include "apps/programs/swaptions_random.hpp"
#include "unit/fuzz_corpus.hpp"
#include "unit/programs/models.hpp"

namespace kilter::apps {
namespace {

using namespace test;

// ---- Black and Scholes --------------------------------------------------------------------------

TEST(blackscholes, is_the_same_under_every_model) {
  blackscholes alone(drawn_options(1000, 1), {.runs = 3});
  run_and_verify(alone, {});
  for (const loop_cut cut : {loop_cut::loop, loop_cut::tasks}) {
    blackscholes b(drawn_options(1000, 1), {.cut = cut, .runs = 3});
    for (const team& t : teams_and_policies()) {
      run_and_verify(b, t);
      EXPECT_EQ(b.prices(), alone.prices()) << t;
      EXPECT_EQ(b.fingerprint(), alone.fingerprint()) << t;
    }
  }
  blackscholes others(drawn_options(1000, 2), {.runs = 1});
  run_and_verify(others, {});
  EXPECT_NE(others.fingerprint(), alone.fingerprint());
}

TEST(blackscholes, has_as_many_tasks_and_barriers_as_the_paper_counts) {
  blackscholes b(drawn_options(640, 1), {.cut = loop_cut::tasks, .runs = 100});
  for (const execution_model m : {execution_model::serial, execution_model::kilter}) {
    const program_run r = run_and_verify(b, {m, 2});
    EXPECT_EQ(r.tasks, 6400u);
    EXPECT_EQ(r.barriers, 100u);
    EXPECT_EQ(r.iterations, 100u);
  }
}

TEST(blackscholes, takes_blocks_of_any_length) {
  blackscholes alone(drawn_options(1000, 1), {.runs = 1, .tasks = 1});
  EXPECT_EQ(run_and_verify(alone, {}).tasks, 1u);
  for (const std::size_t tasks : {3u, 999u, 1000u, 5000u}) {
    blackscholes b(drawn_options(1000, 1), {.runs = 2, .tasks = tasks});
    EXPECT_EQ(run_and_verify(b, on_kilter(2)).tasks, 2 * std::min<std::size_t>(tasks, 1000));
    EXPECT_EQ(b.prices(), alone.prices());
  }
  // what is left over is priced too, by the step
  for (const std::size_t length : {1u, 7u, 300u, 1000u}) {
    blackscholes b(drawn_options(1000, 1), {.runs = 2, .block_size = length});
    EXPECT_EQ(run_and_verify(b, on_kilter(2)).tasks, 2 * (1000 / length));
    EXPECT_EQ(b.prices(), alone.prices());
  }
  EXPECT_EQ(blackscholes(drawn_options(1000, 1), {.runs = 2, .block_size = 300}).about(),
            "1000 options, 2 runs of 3 tasks and 100 options");
}

double black_scholes_of(double spot, double strike, double rate, double volatility, double years,
                        bool call) {
  return black_scholes_price({spot, strike, rate, volatility, years, call});
}

// Hull, Options, Futures, and Other Derivatives, has the second pair (chapter "The
// Black-Scholes-Merton Model": 4.76 and 0.81).
TEST(blackscholes, prices_as_books_do) {
  EXPECT_NEAR(black_scholes_of(100, 100, .05, .2, 1, true), 10.4506, 5e-5);
  EXPECT_NEAR(black_scholes_of(100, 100, .05, .2, 1, false), 5.5735, 5e-5);
  EXPECT_NEAR(black_scholes_of(42, 40, .1, .2, .5, true), 4.76, 5e-3);
  EXPECT_NEAR(black_scholes_of(42, 40, .1, .2, .5, false), 0.81, 5e-3);
  EXPECT_NEAR(black_scholes_of(50, 10, .02, .1, .1, true), 50 - 10 * std::exp(-.002), 1e-5)
      << "as good as bought";
  EXPECT_EQ(black_scholes_of(10, 50, .02, .1, .1, true), 0.0)
      << "as good as lost, and never below 0";
}

TEST(blackscholes, prices_are_what_the_option_pays_in_the_mean) {
  for (const european_option& o : drawn_options(50, 9)) {
    double mean = 0;
    const double width = 1e-3;
    for (double z = -9; z < 9; z += width) {  // the midpoint rule over how the share moves
      const double u = z + width / 2,
                   at_end = o.spot * std::exp((o.rate - o.volatility * o.volatility / 2) * o.years +
                                              o.volatility * std::sqrt(o.years) * u);
      mean += width * std::exp(-u * u / 2) / std::sqrt(2 * M_PI) *
              std::max(0.0, o.call ? at_end - o.strike : o.strike - at_end);
    }
    EXPECT_NEAR(black_scholes_price(o), mean * std::exp(-o.rate * o.years),
                1e-6 * (o.spot + o.strike));
  }
}

TEST(blackscholes, keeps_the_parity_of_puts_and_calls) {
  for (european_option o : drawn_options(1000, 4)) {
    o.call = true;
    const double call = black_scholes_price(o);
    o.call = false;
    EXPECT_NEAR(call - black_scholes_price(o), o.spot - o.strike * std::exp(-o.rate * o.years),
                2e-7 * (o.spot + o.strike));
  }
}

TEST(blackscholes, knows_the_normal_distribution) {
  for (double x = -12; x <= 12; x += 0.01)
    EXPECT_NEAR(cumulative_normal(x), std::erfc(-x / std::sqrt(2.0)) / 2, 7.5e-8) << x;
}

TEST(blackscholes, prices_what_is_at_the_ends_of_the_ranges) {
  std::vector<european_option> all;
  for (const double spot : {1e-6, 1e12})
    for (const double strike : {1e-6, 1e12})
      for (const double rate : {-1., 0., 1.})
        for (const double volatility : {1e-4, 10.})
          for (const double years : {1e-9, 500.})
            for (const bool call : {true, false})
              all.push_back({spot, strike, rate, volatility, years, call});
  blackscholes b(all, {.runs = 1});
  run_and_verify(b, {});
  for (const double price : b.prices()) EXPECT_TRUE(std::isfinite(price));
}

std::string blackscholes_verdict(const std::vector<double>& prices) {
  return verdict_of([&] {
    verify({{100, 100, .05, .2, 1, true}, {100, 100, .05, .2, 1, false}}, prices);
  });
}

TEST(blackscholes, is_verified_by_itself) {
  EXPECT_EQ(blackscholes_verdict({10.45058, 5.573526}), "right");
  EXPECT_EQ(blackscholes_verdict({10.4507, 5.573526}),
            "blackscholes: option 1, a call at 100 on 100, is priced 10.4507, not 10.45058357");
  EXPECT_EQ(blackscholes_verdict({10.45058, 5.5736}),
            "blackscholes: option 2, a put at 100 on 100, is priced 5.5736, not 5.573526022");
  EXPECT_EQ(blackscholes_verdict({10.45058, std::nan("")}),
            "blackscholes: option 2, a put at 100 on 100, is priced nan, not 5.573526022");
  EXPECT_EQ(blackscholes_verdict({}), "blackscholes: nothing has been computed");
  EXPECT_THROW(blackscholes(drawn_options(10, 1), {}).verify(), wrong_result);
}

TEST(blackscholes, ends_early_when_it_is_told_to) {
  blackscholes b(drawn_options(20'000, 1), {.runs = 1'000'000});
  for (const execution_model m : {execution_model::serial, execution_model::kilter}) {
    EXPECT_TRUE(ends_early(b, m));
  }
}

TEST(blackscholes, reads_tables) {
  const std::vector<european_option> two{{100, 95.5, -.01, .2, .5, true},
                                         {20, 30, .05, .4, 2, false}};
  EXPECT_EQ(read_options("100,95.5,-0.01,0.2,0.5,C\n20,30,.05,.4,2,P\n", "a"), two);
  EXPECT_EQ(read_options("\xef\xbb\xbfspot; strike; rate; volatility; years; type\r\n\r\n"
                         "100;95.5;-1e-2;0.2;0.5;call\r\n 20 ; 30 ; +.05 ; .4 ; 2 ; put",
                         "a"),
            two);
  EXPECT_EQ(
      read_options("\"spot\"\t\"strike\"\n100\t95.5\t-0.01\t0.2\t0.5\tc\n20\t30\t.05\t.4\t2\tp\n",
                   "a"),
      two);
}

TEST(blackscholes, corpus_of_tables_is_read_or_refused_in_one_line) {
  replay_corpus("options",
                [](const std::string&, const std::string& text) { (void)read_options(text, "f"); });
}

TEST(blackscholes, writes_tables) {
  blackscholes b(read_options("100,100,.05,.2,1,C\n100,100,.05,.2,1,P\n", "a"), {.runs = 2});
  run_and_verify(b, on_kilter(2));
  const std::string file = b.result_file();
  EXPECT_TRUE(file.starts_with(
      "spot,strike,rate,volatility,years,type,price\n100,100,0.05,0.2,1,C,10.4505"))
      << file;
  EXPECT_NE(file.find("\n100,100,0.05,0.2,1,P,5.5735"), std::string::npos) << file;
  EXPECT_EQ(std::ranges::count(file, '\n'), 3);
  EXPECT_EQ(b.found(),
            std::vector<std::string>{"one of each is worth 16.02: 1 calls 10.45, 1 puts 5.57"});
}

std::string blackscholes_refusal(const std::string& table) {
  return refusal([&] { (void)read_options(table, "a.csv"); });
}

TEST(blackscholes, refuses_bad_tables) {
  const std::string good = "100,100,.05,.2,1,C\n", line = "options 'a.csv', line 2: ";
  EXPECT_EQ(blackscholes_refusal(good + "100,100,.05,.2,1\n"),
            line + "it has 5 fields: write spot, strike, rate, volatility, years, C or P");
  EXPECT_EQ(
      blackscholes_refusal(good + "100,100,.05,.2,1,C,7\n"),
      line + "it has more than 6 fields: write spot, strike, rate, volatility, years, C or P");
  EXPECT_EQ(blackscholes_refusal(good + "0,100,.05,.2,1,C\n"),
            line + "spot '0': write a number from 0.000001 to 1e12");
  EXPECT_EQ(blackscholes_refusal(good + "100,1oo,.05,.2,1,C\n"),
            line + "strike '1oo': write a number from 0.000001 to 1e12");
  EXPECT_EQ(blackscholes_refusal(good + "100,100,5,.2,1,C\n"),
            line + "rate '5': write a number from -1 to 1 (5 % is 0.05)");
  EXPECT_EQ(blackscholes_refusal(good + "100,100,.05,nan,1,C\n"),
            line + "volatility 'nan': write a number from 0.0001 to 10 (20 % is 0.2)");
  EXPECT_EQ(blackscholes_refusal(good + "100,100,.05,,1,C\n"),
            line + "volatility '': write a number from 0.0001 to 10 (20 % is 0.2)");
  EXPECT_EQ(blackscholes_refusal(good + "100,100,.05,.2,-1,C\n"),
            line + "years '-1': write a number from 1e-9 to 500");
  EXPECT_EQ(blackscholes_refusal(good + "100,100,.05,.2,1,X\n"),
            line + "type 'X': write C (call) or P (put)");
  EXPECT_EQ(blackscholes_refusal("nan,inf,nan,nan,nan,C\n"),
            "options 'a.csv', line 1: spot 'nan': write a number from 0.000001 to 1e12");
  for (const char* none : {"", "\n \n", "spot,strike,rate,volatility,years,type\n"})
    EXPECT_EQ(blackscholes_refusal(none),
              "options 'a.csv' has none: write spot, strike, rate, volatility, years, C or P, a "
              "line for each");
}

TEST(blackscholes, refuses_what_it_cannot_run) {
  EXPECT_THROW(blackscholes({}, {}), input_error);
  EXPECT_THROW(blackscholes(drawn_options(10, 1), {.runs = 0}), input_error);
  EXPECT_THROW(blackscholes(drawn_options(10, 1), {.tasks = 0}), input_error);
  EXPECT_THROW(blackscholes(drawn_options(10, 1), {.block_size = 11}), input_error);
  EXPECT_THROW(blackscholes({{100, 100, .05, 0, 1, true}}, {}), input_error);
}

// ---- swaptions, whose simulations agree with the integrals --------------------------------------

swaptions few_swaptions(std::size_t count, const swaptions_options& o, std::size_t expiry = 1,
                        std::size_t tenor = 2) {
  const rate_model m = rising_rates((expiry + tenor) * periods_a_year);
  return {m, drawn_swaptions(count, m, expiry, tenor, 1), o};
}

TEST(swaptions, are_the_same_under_every_model) {
  // no multiple of the 16 that are simulated at a time
  swaptions alone = few_swaptions(12, {.simulations = 100});
  run_and_verify(alone, {});
  for (const loop_cut cut : {loop_cut::loop, loop_cut::tasks}) {
    swaptions s = few_swaptions(12, {.cut = cut, .simulations = 100});
    for (const team& t : teams_and_policies()) {
      run(s, t);
      EXPECT_EQ(s.fingerprint(), alone.fingerprint()) << t;
      EXPECT_EQ(s.result_file(), alone.result_file()) << t;
    }
  }
  swaptions other_seed = few_swaptions(12, {.simulations = 100, .seed = 2});
  run(other_seed, {});
  EXPECT_NE(other_seed.fingerprint(), alone.fingerprint());
}

TEST(swaptions, have_as_many_tasks_and_barriers_as_the_paper_counts) {
  swaptions s = few_swaptions(128, {.cut = loop_cut::tasks, .simulations = 16});
  for (const execution_model m : {execution_model::serial, execution_model::kilter}) {
    const program_run r = run(s, {m, 2});
    EXPECT_EQ(r.tasks, 128u);
    EXPECT_EQ(r.barriers, 1u);
    EXPECT_EQ(r.iterations, 1u);
  }
}

// The vectors that its authors publish with Random123 (kat_vectors).
TEST(swaptions, draw_the_published_random_words) {
  using words = std::array<std::uint32_t, 4>;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(swaptions, invert_the_normal_distribution) {
  for (double x = -6; x <= 6; x += 0.01) {
    const double p = std::erfc(-x / std::sqrt(2.0)) / 2;
    EXPECT_NEAR(inverse_normal(p), x,
                2e-9 * std::fabs(x) + 1e-9 * std::exp(std::max(0.0, x * x / 2) - 18))
        << x;
  }
  for (const std::uint32_t word : {0u, 1u, 0x80000000u, 0xffffffffu}) {
    EXPECT_GT(uniform_of(word), 0.0);
    EXPECT_LT(uniform_of(word), 1.0);
    EXPECT_EQ(inverse_normal(uniform_of(word)), -inverse_normal(uniform_of(~word)));
  }
}

double normal_below(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }

// A swap of one year is one bond, whose logarithm is normal: Black's formula, with the variance
// added up from its definition.
TEST(swaptions, of_one_year_are_options_on_a_bond) {
  const rate_model m = rising_rates(60);
  for (const std::size_t expiry : {1u, 7u, 29u})
    for (const bool payer : {true, false})
      for (const double strike : {.02, .035, .06}) {
        const double h = years_a_period;
        double now = 0, end = 0, variance = 0;
        for (std::size_t j = 0; j < (expiry + 1) * periods_a_year; ++j)
          (j < expiry * periods_a_year ? now : end) += m.forward[j] * h;
        for (std::size_t k = 0; k < expiry * periods_a_year; ++k)
          for (std::size_t f = 0; f < rate_model::factors; ++f) {
            double moved = 0;
            for (std::size_t j = expiry * periods_a_year; j < (expiry + 1) * periods_a_year; ++j)
              moved += h * std::sqrt(h) * m.volatility[f] *
                       std::exp(-m.decay[f] * h * static_cast<double>(j - k));
            variance += moved * moved;
          }
        const double at_expiry = std::exp(-now), at_end = std::exp(-now - end) * (1 + strike);
        const double d = std::log(at_end / at_expiry) / std::sqrt(variance),
                     half = std::sqrt(variance) / 2;
        const double call = at_end * normal_below(d + half) - at_expiry * normal_below(d - half);
        EXPECT_NEAR(integrated(m, {strike, expiry, 1, payer}).price,
                    payer ? call - at_end + at_expiry : call, 1e-13)
            << expiry << " " << strike;
      }
}

TEST(swaptions, keep_the_parity_of_payers_and_receivers) {
  const rate_model m = rising_rates(40);
  const double fair = fair_strike(m, 10, 10);
  EXPECT_NEAR(integrated(m, {fair, 10, 10, true}).price, integrated(m, {fair, 10, 10, false}).price,
              1e-13);
  for (const double strike : {.5 * fair, 2 * fair}) {
    double interest = 0, swap = 0;
    for (std::size_t j = 0; j < 40; ++j) {
      if (j == 20) swap += std::exp(-interest);
      interest += m.forward[j] * years_a_period;
      if (j > 20 && j % 2 == 1) swap -= (strike + (j == 39)) * std::exp(-interest);
    }
    EXPECT_NEAR(
        integrated(m, {strike, 10, 10, true}).price - integrated(m, {strike, 10, 10, false}).price,
        swap, 1e-13);
  }
}

TEST(swaptions, are_worth_the_swap_where_rates_hardly_move) {
  rate_model m = rising_rates(8);
  m.volatility = {1e-7, 0, 0};
  const double fair = fair_strike(m, 2, 2);
  double interest = 0, years = 0;
  for (std::size_t j = 0; j < 8; ++j) {
    interest += m.forward[j] * years_a_period;
    if (j > 4 && j % 2 == 1) years += std::exp(-interest);
  }
  EXPECT_NEAR(integrated(m, {fair / 2, 2, 2, true}).price, fair / 2 * years, 1e-12);
  EXPECT_NEAR(integrated(m, {fair / 2, 2, 2, false}).price, 0, 1e-12);
}

// The mean of what a bond is worth today in simulated money is what it costs today, whatever the
// rates did meanwhile. Prices come from the integrals.
TEST(swaptions, are_simulated_without_gain_or_loss) {
  for (const auto& [expiry, tenor] : {std::pair<std::size_t, std::size_t>{1, 2}, {10, 3}}) {
    swaptions s = few_swaptions(16, {.simulations = 1500}, expiry, tenor);
    run_and_verify(s, {});
    const rate_model m = rising_rates((expiry + tenor) * periods_a_year);
    double today = 0, mean = 0, far = 0;
    for (const double rate : m.forward) today += rate * years_a_period;
    for (const swaption_estimate& e : s.estimates()) mean += e.bond / 16;
    const swaption_moments w = integrated(m, {.03, expiry, tenor, true});
    EXPECT_NEAR(w.bond, std::exp(-today), 1e-14);
    EXPECT_NEAR(mean, std::exp(-today),
                4 * std::sqrt((w.bond_square - w.bond * w.bond) / (16 * 1500)));
    const std::vector<swaption> priced = drawn_swaptions(16, m, expiry, tenor, 1);
    for (std::size_t i = 0; i < priced.size(); ++i)
      far += std::pow(
          (s.estimates()[i].price - integrated(m, priced[i]).price) / s.estimates()[i].error, 2);
    EXPECT_GT(far, 4.5) << "errors that are too large: a sum of 16 squares of normal numbers";
    EXPECT_LT(far, 37.0) << "errors that are too small";
  }
}

const std::vector<swaption> two_swaptions{{.03, 1, 2, true}, {.03, 1, 2, false}};

double last_bond_of(const std::vector<swaption>& priced, std::size_t which,
                    std::uint64_t simulations) {
  swaptions s(rising_rates(6), priced, {.simulations = simulations});
  run(s, {});
  return s.estimates()[which].last_bond;
}

std::string swaptions_verdict(const std::vector<swaption_estimate>& estimates,
                              std::uint64_t simulations) {
  return verdict_of(
      [&] { verify(rising_rates(6), two_swaptions, estimates, {.simulations = simulations}); });
}

TEST(swaptions, are_verified_by_themselves) {
  constexpr std::uint64_t n = 50'000;
  std::vector<swaption_estimate> right;
  for (const bool payer : {true, false}) {
    const swaption_moments w = integrated(rising_rates(6), {.03, 1, 2, payer});
    right.push_back({w.price, std::sqrt((w.price_square - w.price * w.price) / (n - 1)), w.bond,
                     last_bond_of(two_swaptions, right.size(), n)});
  }
  EXPECT_EQ(swaptions_verdict(right, n), "right");
  const auto says = [&](std::size_t which, double swaption_estimate::*value, double changed,
                        const std::string& text) {
    auto wrong = right;
    wrong[which].*value = changed;
    const std::string verdict = swaptions_verdict(wrong, n);
    EXPECT_TRUE(verdict.starts_with("swaptions: swaption " + text)) << verdict;
  };
  says(1, &swaption_estimate::price, right[1].price + 1e-3, "2, a receiver: the price is 0.0");
  says(0, &swaption_estimate::bond, right[0].bond * 1.001,
       "1, a payer: the bond of its end is 0.9");
  says(0, &swaption_estimate::error, right[0].error * 3,
       "1, a payer: the mean square by the standard error is ");
  says(1, &swaption_estimate::last_bond, right[1].last_bond * (1 + 1e-9),
       "2, a receiver: the bond of its end in the last simulation is 0.9");
  says(0, &swaption_estimate::price, std::nan(""), "1, a payer: the price is nan, not ");
  EXPECT_EQ(swaptions_verdict({}, n), "swaptions: nothing has been computed");
  EXPECT_THROW(few_swaptions(2, {}).verify(), wrong_result);
}

// What each of many may be off by chance, all of them together may not.
TEST(swaptions, are_verified_together) {
  const rate_model m = rising_rates(6);
  const std::vector<swaption> many(60, {.03, 1, 2, true});
  const swaption_moments w = integrated(m, many[0]);
  const double error = std::sqrt((w.price_square - w.price * w.price) / 9999);
  swaptions s(m, many, {.simulations = 10'000});
  run(s, {});
  std::vector<swaption_estimate> estimates = s.estimates();
  for (swaption_estimate& e : estimates) e = {w.price, error, w.bond, e.last_bond};
  EXPECT_NO_THROW(verify(m, many, estimates, {.simulations = 10'000}));
  for (swaption_estimate& e : estimates) e.price += 2 * error;
  const std::string verdict =
      verdict_of([&] { verify(m, many, estimates, {.simulations = 10'000}); });
  EXPECT_TRUE(verdict.starts_with("swaptions: all swaptions together: the price is "))
      << verdict << ", though all are two standard errors too dear";
}

TEST(swaptions, end_early_when_they_are_told_to) {
  swaptions s = few_swaptions(4, {.simulations = 1'000'000'000});
  for (const execution_model m :
       {execution_model::serial, execution_model::static_threads, execution_model::kilter}) {
    EXPECT_TRUE(ends_early(s, m));
    executor how = executor_of({m, 2});
    std::atomic<int> asked = 0;  // also in the middle of a block
    EXPECT_FALSE(s.run(how, [&] { return ++asked > 20; }).complete);
  }
}

TEST(swaptions, are_written_as_a_table) {
  swaptions s(rising_rates(6), {{.03, 1, 2, true}, {.025, 1, 2, false}}, {.simulations = 64});
  EXPECT_EQ(s.found(), std::vector<std::string>{});
  run(s, on_kilter(2));
  const std::string file = s.result_file();
  EXPECT_TRUE(file.starts_with("side,strike,expiry,tenor,price,standard error\npayer,0.03,1,2,0.0"))
      << file;
  EXPECT_NE(file.find("\nreceiver,0.025,1,2,0.0"), std::string::npos) << file;
  EXPECT_EQ(s.found().size(), 1u);
  EXPECT_EQ(s.about(), "2 swaptions, a task each, 64 simulations of 2 periods");
}

TEST(swaptions, refuse_what_they_cannot_run) {
  const auto answer = [](const std::vector<swaption>& priced, std::uint64_t simulations) {
    return answer_to([&] { swaptions s(rising_rates(6), priced, {.simulations = simulations}); });
  };
  EXPECT_EQ(answer({{.03, 1, 2, true}}, 2), "accepted");
  EXPECT_EQ(answer({}, 2), "--swaptions 0: at least 1");
  EXPECT_EQ(answer({{.03, 1, 2, true}}, 1), "--simulations 1: write a number from 2 to 1000000000");
  EXPECT_EQ(answer({{0, 1, 2, true}}, 2),
            "swaptions: strike 0: write a number above 0, up to 1 (3 % is 0.03)");
  EXPECT_EQ(answer({{.03, 0, 2, true}}, 2), "--expiry 0: write whole years from 1 to 30");
  EXPECT_EQ(answer({{.03, 1, 31, true}}, 2), "--tenor 31: write whole years from 1 to 30");
  EXPECT_EQ(answer({{.03, 1, 3, true}}, 2), "swaptions: the model has 6 rates: a swaption needs 8");
}

}  // namespace
}  // namespace kilter::apps
