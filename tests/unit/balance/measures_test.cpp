// What S4 prints follows from its own definitions.

#include <gtest/gtest.h>

#include "balance/measures.hpp"

using namespace kilter::balance;

TEST(measures, fairness_is_one_minus_the_mean_variation_of_run_times) {
  const std::vector<std::vector<double>> times = {{10, 10, 10}, {1, 3}};
  EXPECT_DOUBLE_EQ(run_time_fairness(times), 0.75);
  EXPECT_DOUBLE_EQ(run_time_fairness(std::vector<std::vector<double>>{{2, 2}}), 1.0);
}

TEST(measures, slowdown_ratio_is_largest_over_smallest) {
  const std::vector<double> together = {20, 30, 10}, alone = {10, 10, 10};
  EXPECT_DOUBLE_EQ(slowdown_ratio(together, alone), 3.0);
}

// Table III as printed: its means hold, and so do the corrections (papers.md E32) of the reductions
// in the text.
TEST(measures, table_iii_means) {
  const std::vector<double> dio = {1980, 2120, 1952, 1964, 2364, 2068, 1624, 1720,
                                   2220, 2568, 2144, 1872, 1776, 1812, 3564, 2120};
  const std::vector<double> dike = {9,    14,   12,  9,   12,   270, 2288, 1594,
                                    2197, 2500, 981, 317, 1015, 806, 312,  37};
  const std::vector<double> af = {10,  9,   19,  9,   12,  16,   207, 398,
                                  216, 634, 206, 404, 450, 1081, 260, 696};
  const std::vector<double> ap = {8,   8,   8,   8,   14,  14,  293, 333,
                                  254, 513, 323, 168, 310, 405, 95,  304};
  EXPECT_DOUBLE_EQ(arithmetic_mean(dio), 2116.75);
  EXPECT_DOUBLE_EQ(arithmetic_mean(dike), 773.3125);
  EXPECT_DOUBLE_EQ(arithmetic_mean(af), 289.1875);
  EXPECT_DOUBLE_EQ(arithmetic_mean(ap), 191.125);
  EXPECT_NEAR(1.0 - arithmetic_mean(dike) / arithmetic_mean(dio), 0.635, 0.0005);
  EXPECT_NEAR(1.0 - arithmetic_mean(af) / arithmetic_mean(dike), 0.626, 0.0005);
  EXPECT_NEAR(1.0 - arithmetic_mean(ap) / arithmetic_mean(dike), 0.753, 0.0005);
}

TEST(measures, geometric_mean) {
  EXPECT_NEAR(geometric_mean(std::vector<double>{1.0, 4.0}), 2.0, 1e-12);
}
