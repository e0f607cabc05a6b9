// Black and Scholes: the same bits under every model, the prices that books and integrals have, and
// tables that are read or refused.

#include "apps/programs/blackscholes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "kilter/error.hpp"
#include "unit/programs/models.hpp"

namespace kilter::apps {
namespace {

program_run run_blackscholes(blackscholes& b, execution_model m, std::uint32_t threads,
                             const std::string& policy = "auto") {
  executor how(
      m, {.machine = std::make_shared<const machine>(machine::uniform(threads)), .policy = policy});
  const program_run r = b.run(how, [] { return false; });
  EXPECT_TRUE(r.complete);
  b.verify();
  return r;
}

TEST(blackscholes, is_the_same_under_every_model) {
  blackscholes alone(drawn_options(1000, 1), {.runs = 3});
  run_blackscholes(alone, execution_model::serial, 1);
  for (const loop_cut cut : {loop_cut::loop, loop_cut::tasks}) {
    blackscholes b(drawn_options(1000, 1), {.cut = cut, .runs = 3});
    for (const auto& [m, threads] : testing::teams()) {
      run_blackscholes(b, m, threads);
      EXPECT_EQ(b.prices(), alone.prices()) << model_names[static_cast<std::size_t>(m)];
      EXPECT_EQ(b.fingerprint(), alone.fingerprint());
    }
    for (const std::uint32_t threads : {1u, 4u, 8u}) {
      run_blackscholes(b, execution_model::kilter, threads);
      EXPECT_EQ(b.prices(), alone.prices()) << threads;
    }
    for (const char* policy : {"rws", "dam-c", "dam-p", "cats", "dheft"}) {
      run_blackscholes(b, execution_model::kilter, 4, policy);
      EXPECT_EQ(b.prices(), alone.prices()) << policy;
    }
  }
  blackscholes others(drawn_options(1000, 2), {.runs = 1});
  run_blackscholes(others, execution_model::serial, 1);
  EXPECT_NE(others.fingerprint(), alone.fingerprint());
}

TEST(blackscholes, has_as_many_tasks_and_barriers_as_the_paper_counts) {
  blackscholes b(drawn_options(640, 1), {.cut = loop_cut::tasks, .runs = 100});
  for (const execution_model m : {execution_model::serial, execution_model::kilter}) {
    const program_run r = run_blackscholes(b, m, 2);
    EXPECT_EQ(r.tasks, 6400u);
    EXPECT_EQ(r.barriers, 100u);
    EXPECT_EQ(r.iterations, 100u);
  }
}

TEST(blackscholes, takes_blocks_of_any_length) {
  blackscholes alone(drawn_options(1000, 1), {.runs = 1, .tasks = 1});
  EXPECT_EQ(run_blackscholes(alone, execution_model::serial, 1).tasks, 1u);
  for (const std::size_t tasks : {3u, 999u, 1000u, 5000u}) {
    blackscholes b(drawn_options(1000, 1), {.runs = 2, .tasks = tasks});
    EXPECT_EQ(run_blackscholes(b, execution_model::kilter, 2).tasks,
              2 * std::min<std::size_t>(tasks, 1000));
    EXPECT_EQ(b.prices(), alone.prices());
  }
  // what is left over is priced too, by the step
  for (const std::size_t length : {1u, 7u, 300u, 1000u}) {
    blackscholes b(drawn_options(1000, 1), {.runs = 2, .block_size = length});
    EXPECT_EQ(run_blackscholes(b, execution_model::kilter, 2).tasks, 2 * (1000 / length));
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
  run_blackscholes(b, execution_model::serial, 1);
  for (const double price : b.prices()) EXPECT_TRUE(std::isfinite(price));
}

std::string blackscholes_verdict(const std::vector<double>& prices) {
  try {
    verify({{100, 100, .05, .2, 1, true}, {100, 100, .05, .2, 1, false}}, prices);
  } catch (const wrong_result& e) {
    return e.what();
  }
  return "right";
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
    executor how(m, {.machine = std::make_shared<const machine>(machine::uniform(2))});
    EXPECT_FALSE(b.run(how, [] { return true; }).complete);
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

TEST(blackscholes, writes_tables) {
  blackscholes b(read_options("100,100,.05,.2,1,C\n100,100,.05,.2,1,P\n", "a"), {.runs = 2});
  run_blackscholes(b, execution_model::kilter, 2);
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
  try {
    (void)read_options(table, "a.csv");
  } catch (const input_error& e) {
    return e.what();
  }
  return "read";
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

}  // namespace
}  // namespace kilter::apps
