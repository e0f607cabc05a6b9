// Which member a thread gets (prefix/openmp/to_begin.hpp).

#include "openmp/to_begin.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace kilter::regions {
namespace {

TEST(to_begin, who_asks_for_one_gets_it_while_nobody_else_has_it) {
  members_to_begin all;
  EXPECT_EQ(all.take(0), -1);
  all.begin(4, 1);
  EXPECT_TRUE(all.has(3));
  EXPECT_FALSE(all.has(4));
  EXPECT_EQ(all.take(2), 2);
  EXPECT_EQ(all.take(2), 3) << "the next after it";
  EXPECT_TRUE(all.any());
  EXPECT_EQ(all.take(2), 1) << "in a circle, without those that were begun";
  EXPECT_FALSE(all.any());
  EXPECT_EQ(all.take(2), -1);
}

TEST(to_begin, a_team_whose_members_all_have_begun_has_none) {
  members_to_begin all;
  all.begin(64, 64);
  EXPECT_FALSE(all.any());
  EXPECT_EQ(all.take(7), -1);
}

class team_of : public testing::TestWithParam<std::uint32_t> {};

TEST_P(team_of, each_member_is_begun_once_whoever_asks) {
  const std::uint32_t members = GetParam(), threads = 4;
  members_to_begin all;
  for (int region = 0; region < 200; ++region) {
    std::vector<std::atomic<int>> times(members);
    all.begin(members, 1);
    std::vector<std::thread> who;
    for (std::uint32_t t = 0; t < threads; ++t)
      who.emplace_back([&, t] {
        for (std::int64_t n = all.take(t); n >= 0; n = all.take(t))
          ++times[static_cast<std::size_t>(n)];
      });
    for (std::thread& w : who) w.join();
    EXPECT_FALSE(all.any());
    for (std::uint32_t m = 0; m < members; ++m) ASSERT_EQ(times[m].load(), m == 0 ? 0 : 1) << m;
  }
}
INSTANTIATE_TEST_SUITE_P(sizes, team_of,
                         testing::Values(1u, 2u, 63u, 64u, 65u, 255u, 256u, 257u, 600u));

}  // namespace
}  // namespace kilter::regions
