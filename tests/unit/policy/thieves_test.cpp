// Which thief takes what waits: one whose core somebody slows leaves it to others that are free.

#include <gtest/gtest.h>

#include <array>

#include "policy/routing.hpp"

namespace kilter::routing {
namespace {

TEST(thieves, on_a_slowed_core_leave_it_to_a_free_one_that_is_not) {
  std::array<double, 4> slowdown{1.0, 2.0, 1.0, 2.0};
  std::array<bool, 4> is_free{false, true, true, true};
  const auto better = [&](core_id thief) {
    return better_thief(
        4, thief, [&](core_id c) { return slowdown[c]; }, [&](core_id c) { return is_free[c]; });
  };
  EXPECT_EQ(better(2), no_core) << "nobody slows it";
  EXPECT_EQ(better(1), 2u);
  EXPECT_EQ(better(3), 2u);
  is_free[2] = false;
  EXPECT_EQ(better(1), no_core) << "nobody else is free but one that is slowed, too";
  slowdown[1] = 1.2;
  is_free[2] = true;
  EXPECT_EQ(better(1), no_core) << "less is the little that others do now and then";
}

}  // namespace
}  // namespace kilter::routing
