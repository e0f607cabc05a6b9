// Which CPUs a narrowed mask has while the program runs.
#include <gtest/gtest.h>

#include <string>

#include "regions/openmp/chosen_cpus.hpp"

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
  EXPECT_TRUE(c.revise(2, used, 1.0));
  EXPECT_EQ(text(c), "1 3");
  EXPECT_TRUE(c.revise(3, nullptr, 1.0)) << "without knowing what others use";
  EXPECT_EQ(text(c), "0 1 3");
  EXPECT_TRUE(c.revise(99, used, 1.0));
  EXPECT_TRUE(c.all());
}

TEST(chosen_cpus, a_quota_that_shrinks_takes_the_oldest) {
  chosen_cpus c = of(4, {1, 3, 0});
  EXPECT_TRUE(c.revise(1, nullptr, 0.0));
  EXPECT_EQ(text(c), "0");
}

TEST(chosen_cpus, make_way_for_others_where_a_cpu_is_free) {
  chosen_cpus c = of(2, {0});
  const double shared[] = {1.0, 0.05}, alone[] = {1.0, 0.05}, both_used[] = {1.0, 0.6};
  EXPECT_FALSE(c.revise(1, alone, 0.98)) << "it is the program that uses it";
  EXPECT_FALSE(c.revise(1, both_used, 0.5));
  EXPECT_FALSE(c.revise(1, shared, 0.0)) << "the program does nothing";
  EXPECT_FALSE(c.revise(1, nullptr, 0.5));
  EXPECT_TRUE(c.revise(1, shared, 0.5));
  EXPECT_EQ(text(c), "1");
}

TEST(chosen_cpus, the_one_that_is_shared_is_found_in_as_many_looks_as_there_are) {
  chosen_cpus c = of(4, {0, 1, 2});   // somebody is on 2
  int looks = 0;
  for (; c.has(2) && looks < 9; ++looks) {
    double used[4];
    for (std::uint32_t cpu = 0; cpu < 4; ++cpu) used[cpu] = c.has(cpu) ? 1.0 : 0.0;
    EXPECT_TRUE(c.revise(3, used, 2.5));
  }
  EXPECT_EQ(looks, 3);
  const double used[] = {1.0, 1.0, 1.0, 1.0};
  EXPECT_FALSE(c.revise(3, used, 3.0));
}

}  // namespace
}  // namespace kilter::regions
