// Which CPUs a narrowed mask has while the program runs.
#include <gtest/gtest.h>

#include <string>

#include "openmp/chosen_cpus.hpp"

namespace kilter::regions {
namespace {

chosen_cpus of(std::uint32_t count, std::initializer_list<std::uint32_t> chosen) {
  chosen_cpus c;
  c.begin(count);
  for (const std::uint32_t cpu : chosen) c.add(cpu);
  return c;
}
std::string text(const chosen_cpus& c) {
  std::string all;
  for (std::uint32_t cpu = 0; cpu < chosen_cpus::most; ++cpu)
    if (c.has(cpu)) all += (all.empty() ? "" : " ") + std::to_string(cpu);
  return all;
}

TEST(chosen_cpus, a_quota_that_grows_gives_those_that_are_used_least) {
  chosen_cpus c = of(4, {1});
  const double used[] = {0.9, 1.0, 0.5, 0.0};
  EXPECT_TRUE(c.pay_for(2, used));
  EXPECT_EQ(text(c), "1 3");
  EXPECT_TRUE(c.pay_for(3, nullptr)) << "without knowing what others use";
  EXPECT_EQ(text(c), "0 1 3");
  EXPECT_TRUE(c.pay_for(99, used));
  EXPECT_TRUE(c.all());
}

TEST(chosen_cpus, a_quota_that_shrinks_takes_the_oldest) {
  chosen_cpus c = of(4, {1, 3, 0});
  EXPECT_TRUE(c.pay_for(1, nullptr));
  EXPECT_EQ(text(c), "0");
}

TEST(chosen_cpus, hold_up_who_shares_them_while_another_one_is_free) {
  const chosen_cpus c = of(2, {0});
  const double used[] = {1.0, 0.05}, both_used[] = {1.0, 0.6};
  EXPECT_TRUE(c.hold_up(used, 0.5, 1));
  EXPECT_FALSE(c.hold_up(used, 0.98, 1)) << "it is the program that uses it";
  EXPECT_FALSE(c.hold_up(both_used, 0.5, 1));
  EXPECT_FALSE(c.hold_up(used, 0.0, 0)) << "the program does nothing";
  EXPECT_FALSE(c.hold_up(nullptr, 0.5, 1));
}

TEST(chosen_cpus, hold_up_more_threads_than_there_are) {
  EXPECT_TRUE(of(2, {0}).hold_up(nullptr, 1.0, 2));
  EXPECT_FALSE(of(4, {0, 1}).hold_up(nullptr, 1.9, 2));
  EXPECT_TRUE(of(4, {0, 1}).hold_up(nullptr, 1.9, 3));
  EXPECT_FALSE(of(2, {0, 1}).hold_up(nullptr, 1.9, 8)) << "there are no others";
}

}  // namespace
}  // namespace kilter::regions
