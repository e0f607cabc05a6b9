#include "sim/numbers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sim/work.hpp"

namespace kilter::sim {
namespace {

TEST(numbers, logarithm_and_exponential_agree_with_the_library) {
  random_stream r(1, "numbers");
  for (int i = 0; i < 20000; ++i) {
    const double x = std::ldexp(r.uniform() + 0x1p-60, static_cast<int>(r.below(200)) - 100);
    EXPECT_NEAR(log_of(x), std::log(x), 1e-14 * std::max(1.0, std::abs(std::log(x)))) << x;
    const double y = (r.uniform() - 0.5) * 200.0;
    EXPECT_NEAR(exp_of(y) / std::exp(y), 1.0, 1e-13) << y;
  }
  EXPECT_EQ(log_of(1.0), 0.0);
  EXPECT_EQ(exp_of(0.0), 1.0);
}

// The bits themselves: what makes runs the same on every machine.
TEST(numbers, the_first_draws_of_a_stream_never_change) {
  random_stream r(42, "draws");
  EXPECT_EQ(exponential(r), 0x1.b679d0bf40759p-2);
  EXPECT_EQ(normal(r), 0x1.6b6647198a6abp+0);
}

TEST(numbers, several_at_a_time_are_those_of_each_to_the_bit) {
  constexpr std::uint64_t count = 1003;  // the last few of them are not all that are drawn at once
  const std::vector<double> all = noise_factors(0.03, 7, count);
  ASSERT_EQ(all.size(), count);
  for (std::uint64_t task = 0; task < count; ++task)
    EXPECT_EQ(all[task], noise_factor(0.03, 7, task)) << task;
}

TEST(numbers, moments) {
  random_stream r(7, "moments");
  double sum = 0, square = 0, tail = 0;
  constexpr int count = 200'000;
  for (int i = 0; i < count; ++i) {
    const double x = normal(r);
    sum += x;
    square += x * x;
    tail += exponential(r);
  }
  EXPECT_NEAR(sum / count, 0.0, 0.01);
  EXPECT_NEAR(square / count, 1.0, 0.01);
  EXPECT_NEAR(tail / count, 1.0, 0.01);
}

}  // namespace
}  // namespace kilter::sim
