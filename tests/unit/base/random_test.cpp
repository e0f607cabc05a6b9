#include "base/random.hpp"

#include <gtest/gtest.h>

#include <set>

namespace kilter {
namespace {

TEST(random_stream, is_the_same_on_every_machine) {
  random_stream r(42, "worker", 3);
  random_stream again(42, "worker", 3);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(r.next(), again.next());
  // A fixed value: a change of the generator would change every recorded run.
  EXPECT_EQ(mix64(0), 0xe220a8397b1dcdafULL);
}

TEST(random_stream, differs_by_seed_purpose_and_number) {
  std::set<std::uint64_t> first;
  for (const std::uint64_t seed : {0, 1, 2})
    for (const char* purpose : {"", "worker", "layer"})
      for (const std::uint64_t number : {0, 1, 2})
        first.insert(random_stream(seed, purpose, number).next());
  EXPECT_EQ(first.size(), 27u);
}

TEST(random_stream, below_is_in_range_and_even) {
  random_stream r(7);
  int seen[10] = {};
  for (int i = 0; i < 100'000; ++i) {
    const auto v = r.below(10);
    ASSERT_LT(v, 10u);
    ++seen[v];
  }
  for (const int n : seen) EXPECT_NEAR(n, 10'000, 500);  // five standard deviations
}

}  // namespace
}  // namespace kilter
