// Every iteration is somebody's, once, whatever the schedule; of clang's loops, one member has the
// last.
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <vector>

#include "openmp/kmpc_shares.hpp"
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

// ---- as clang numbers them ----------------------------------------------------------------------

/// As clang's programs go through what they are given. How often each iteration came.
template <class T>
std::map<T, int> walked(kmpc_schedule how, T lower, T upper, std::make_signed_t<T> by,
                        std::uint64_t chunk, std::uint32_t members, int& with_last) {
  __extension__ typedef __int128 wide;  // so that the walk itself cannot overflow
  std::map<T, int> times;
  for (std::uint32_t number = 0; number < members; ++number) {
    const auto share = kmpc_static_share(how, lower, upper, by, chunk, members, number);
    bool has_last = false;
    wide from = share.lower, to = share.upper;
    while (by > 0 ? from <= upper && from <= to : from >= upper && from >= to) {
      for (wide i = from; by > 0 ? i <= to && i <= upper : i >= to && i >= upper; i += by) {
        ++times[static_cast<T>(i)];
        has_last = has_last || (by > 0 ? i > wide{upper} - by : i < wide{upper} - by);
      }
      if (how != kmpc_schedule::static_chunked) break;
      from += share.stride;
      to += share.stride;
    }
    EXPECT_EQ(share.last, has_last) << "member " << number << " of " << members;
    with_last += share.last ? 1 : 0;
  }
  return times;
}

template <class T>
void check(T lower, T upper, std::make_signed_t<T> by) {
  for (const kmpc_schedule how :
       {kmpc_schedule::fixed, kmpc_schedule::static_chunked, kmpc_schedule::balanced_chunked})
    for (const std::uint64_t chunk : {1, 3, 8, 1000})
      for (const std::uint32_t members : {1u, 2u, 3u, 7u, 64u}) {
        int with_last = 0;
        const auto times = walked(how, lower, upper, by, chunk, members, with_last);
        EXPECT_EQ(times.size(), kmpc_count(lower, upper, by))
            << "schedule " << static_cast<int>(how) << ", chunk " << chunk << ", " << members
            << " members";
        for (const auto& [i, n] : times) EXPECT_EQ(n, 1) << "iteration " << +i;
        EXPECT_EQ(with_last, 1);
      }
}

TEST(kmpc_shares, give_each_iteration_once) {
  check<std::int32_t>(0, 99, 1);
  check<std::int32_t>(-7, 20, 3);
  check<std::int32_t>(50, -50, -7);
  check<std::uint32_t>(5, 5, 1);
  check<std::int64_t>(1'000'000'000'000, 1'000'000'000'100, 9);
}

TEST(kmpc_shares, do_not_overflow_at_the_ends_of_a_type) {
  check<std::int32_t>(std::numeric_limits<std::int32_t>::max() - 9,
                      std::numeric_limits<std::int32_t>::max(), 1);
  check<std::int32_t>(std::numeric_limits<std::int32_t>::min() + 9,
                      std::numeric_limits<std::int32_t>::min(), -1);
  check<std::uint32_t>(0, 3, 1);
  check<std::uint64_t>(std::numeric_limits<std::uint64_t>::max() - 100,
                       std::numeric_limits<std::uint64_t>::max(), 1);
  EXPECT_EQ(kmpc_count<std::int32_t>(std::numeric_limits<std::int32_t>::min(),
                                     std::numeric_limits<std::int32_t>::max(), 1),
            std::uint64_t{1} << 32);
  EXPECT_EQ(kmpc_count<std::int32_t>(3, 2, 1), 0u);
  EXPECT_EQ(kmpc_count<std::int32_t>(2, 3, -1), 0u);
}

TEST(kmpc_shares, read_the_numbers_of_schedules) {
  EXPECT_EQ(schedule_of_number(34).how, kmpc_schedule::fixed);
  EXPECT_FALSE(schedule_of_number(34).ordered);
  EXPECT_EQ(schedule_of_number(0x40000023).how, kmpc_schedule::dynamic) << "nonmonotonic";
  EXPECT_EQ(schedule_of_number(66).how, kmpc_schedule::fixed);
  EXPECT_TRUE(schedule_of_number(66).ordered);
  EXPECT_EQ(schedule_of_number(195).how, kmpc_schedule::dynamic) << "ordered and not merged";
  EXPECT_TRUE(schedule_of_number(195).ordered);
  EXPECT_EQ(schedule_of_number(163).how, kmpc_schedule::dynamic);
  EXPECT_EQ(schedule_of_number(92).how, kmpc_schedule::distribute);
}

}  // namespace
}  // namespace kilter::regions
