// Every iteration is somebody's, once, whatever the schedule.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "openmp/shares.hpp"

namespace kilter::regions {
namespace {

std::vector<int> taken_by_all(std::uint64_t count, std::uint64_t chunk, std::uint32_t members) {
  std::vector<int> times(count);
  for (std::uint32_t m = 0; m < members; ++m)
    for (std::uint64_t trip = 0;; ++trip) {
      const iterations piece = fixed_piece(count, chunk, members, m, trip);
      if (piece.none()) break;
      for (std::uint64_t i = piece.begin; i < piece.end; ++i) ++times[i];
    }
  return times;
}

TEST(shares, of_a_fixed_schedule_are_all_iterations_once) {
  for (const std::uint64_t count : {0u, 1u, 2u, 7u, 64u, 1000u})
    for (const std::uint64_t chunk : {0u, 1u, 3u, 64u, 5000u})
      for (const std::uint32_t members : {1u, 2u, 3u, 16u, 2000u})
        EXPECT_EQ(taken_by_all(count, chunk, members), std::vector<int>(count, 1))
            << count << " " << chunk << " " << members;
}

TEST(shares, of_a_fixed_schedule_differ_by_one_at_most) {
  for (std::uint32_t m = 0; m < 3; ++m) {
    const iterations piece = fixed_piece(10, 0, 3, m, 0);
    EXPECT_EQ(piece.end - piece.begin, m == 0 ? 4u : 3u);
  }
}

TEST(shares, of_whoever_comes_are_all_iterations_once) {
  for (const schedule how : {schedule::dynamic, schedule::guided})
    for (const std::uint64_t chunk :
         {std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{5000}, ~std::uint64_t{0}}) {
      work_share s;
      s.how = how;
      s.chunk = chunk;
      s.count = 1000;
      std::uint64_t next = 0;
      for (iterations piece = next_piece(s, 4); !piece.none(); piece = next_piece(s, 4)) {
        EXPECT_EQ(piece.begin, next);
        EXPECT_TRUE(piece.end - piece.begin >= std::min<std::uint64_t>(chunk, 1000 - piece.begin));
        EXPECT_TRUE(how != schedule::dynamic || piece.end - piece.begin <= chunk);
        EXPECT_TRUE((piece.end - piece.begin) % chunk == 0 || piece.end == 1000)
            << "whole chunks, as loops over vectors need them";
        next = piece.end;
      }
      EXPECT_EQ(next, 1000u);
    }
}

TEST(count_of, is_how_often_the_body_runs) {
  EXPECT_EQ(count_of(0L, 10L, 1L), 10u);
  EXPECT_EQ(count_of(0L, 10L, 3L), 4u);
  EXPECT_EQ(count_of(10L, 0L, -3L), 4u);
  EXPECT_EQ(count_of(10L, 0L, 3L), 0u);
  EXPECT_EQ(count_of(-5L, 5L, 10L), 1u);
  constexpr long least = std::numeric_limits<long>::min(), most = std::numeric_limits<long>::max();
  EXPECT_EQ(count_of(least, most, 1L), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(count_of(most, least, -1L), std::numeric_limits<std::uint64_t>::max());
  constexpr std::uint64_t top = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(count_of(true, top - 999, top, 2), 500u);
  EXPECT_EQ(count_of(false, top, top - 999, static_cast<std::uint64_t>(-2)), 500u);
  EXPECT_EQ(count_of(true, 5, 5, 1), 0u);
}

}  // namespace
}  // namespace kilter::regions
