// Who takes part in a loop and with how much, by the trace table alone; and what a thief gets.

#include "runtime/loop_shares.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "runtime/parallel.hpp"
#include "runtime/proportional_cut.hpp"

namespace kilter::inline v0::detail {
namespace {

/// Four cores, the last two of another kind.
struct four_cores {
  machine cores = machine::uniform(4, 2);
  model::tables tables{cores, table_options::robust()};
  model::row_id row = tables.row("loop:x", 0);
  void takes(core_id c, double item_s) { tables.preset(row, cores.single(c), item_s); }
};

TEST(loop_shares, all_cores_are_alike_where_nothing_is_known) {
  four_cores m;
  const loop_shares s = shares_of_loop(m.tables, m.cores, m.row, 1000, 1000, 2);
  EXPECT_EQ(s.weights, std::vector<double>(4, 1.0));
  EXPECT_EQ(s.invited, (std::vector<core_id>{0, 1, 3}));
}

TEST(loop_shares, follow_the_times_of_an_iteration) {
  four_cores m;
  for (const core_id c : {0, 1}) m.takes(c, 1e-6);
  for (const core_id c : {2, 3}) m.takes(c, 3e-6);
  EXPECT_EQ(begins_of_shares(m.tables, m.cores, m.row, 8000, no_core),
            (std::vector<std::uint64_t>{0, 3000, 6000, 7000, 8000}));
}

TEST(loop_shares, nobody_is_invited_to_less_than_10_us_and_the_caller_always_takes_part) {
  four_cores m;
  for (const core_id c : {0, 1}) m.takes(c, 1e-6);
  for (const core_id c : {2, 3}) m.takes(c, 3e-6);
  EXPECT_EQ(begins_of_shares(m.tables, m.cores, m.row, 9, no_core),
            (std::vector<std::uint64_t>{0, 9, 9, 9, 9}));
  EXPECT_EQ(begins_of_shares(m.tables, m.cores, m.row, 9, 3),
            (std::vector<std::uint64_t>{0, 0, 0, 0, 9}));
  const loop_shares two = shares_of_loop(m.tables, m.cores, m.row, 25, 25, 3);
  EXPECT_EQ(two.invited, std::vector<core_id>{0}) << "the fastest";
  EXPECT_EQ(two.weights[1], 0.0);
}

TEST(loop_shares, those_who_look_for_work_are_invited_to_less) {
  four_cores m;
  for (core_id c = 0; c < 4; ++c) m.takes(c, 1e-6);
  const std::vector<std::uint8_t> two_look{0, 1, 1, 0};
  EXPECT_EQ(shares_of_loop(m.tables, m.cores, m.row, 9, 9, 0, two_look).invited,
            (std::vector<core_id>{1, 2}));
  EXPECT_EQ(shares_of_loop(m.tables, m.cores, m.row, 5, 5, 0, two_look).invited,
            (std::vector<core_id>{1}))
      << "2 us for each";
  EXPECT_TRUE(shares_of_loop(m.tables, m.cores, m.row, 3, 3, 0, two_look).invited.empty());
  EXPECT_EQ(shares_of_loop(m.tables, m.cores, m.row, 1000, 1000, 0, two_look).invited.size(), 3u)
      << "there is enough for all, awake or not";
}

TEST(loop_shares, nobody_is_invited_for_pieces_that_are_not_there) {
  four_cores m;
  EXPECT_EQ(shares_of_loop(m.tables, m.cores, m.row, 1000, 2, 0).invited.size(), 1u);
  EXPECT_EQ(shares_of_loop(m.tables, m.cores, m.row, 1000, 1, 0).invited.size(), 0u);
}

TEST(proportional_cut, ends_at_n_whatever_the_weights) {
  for (const std::uint64_t n :
       {std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{1} << 40, UINT64_MAX})
    for (const std::vector<double>& weights :
         {std::vector<double>{1.0}, {0.1, 0.2, 0.3, 0.4, 0.0}, {0.0, 1e-9, 1e9}, {1.0, 1.0, 1.0}}) {
      proportional_cut cut(n, weights);
      std::uint64_t at = 0;
      for (const double w : weights) {
        const std::uint64_t end = cut.end_of_next(w);
        EXPECT_GE(end, at);
        if (w == 0.0) {
          EXPECT_EQ(end, at);
        }
        at = end;
      }
      EXPECT_EQ(at, n);
    }
}

// Whose range it is has a piece of it in hand, so the block in the middle is the thief's.
TEST(loop_ranges, a_thief_gets_the_larger_half_from_the_back_of_the_longest) {
  loop_ranges r(12, {7.0, 0.0, 5.0});
  const auto all_of = [&](core_id c) {
    const block_range b = r.take(c, 100);
    return std::vector<std::uint32_t>{b.begin, b.end};
  };
  ASSERT_EQ(r.left(0), 7u);
  ASSERT_EQ(r.left(1), 0u);
  EXPECT_TRUE(r.steal(1, 1));
  EXPECT_EQ(all_of(1), (std::vector<std::uint32_t>{3, 7}));
  EXPECT_TRUE(r.steal(1, 1));
  EXPECT_EQ(all_of(1), (std::vector<std::uint32_t>{9, 12}));
  EXPECT_EQ(r.left(0), 3u);
  EXPECT_EQ(r.left(2), 2u);
  EXPECT_TRUE(r.steal(1, 3)) << "so few that it is not worth cutting";
  EXPECT_EQ(all_of(1), (std::vector<std::uint32_t>{0, 3}));
  EXPECT_TRUE(r.steal(1, 1));
  EXPECT_EQ(all_of(1), (std::vector<std::uint32_t>{8, 9}));
  EXPECT_TRUE(r.anything_left());
  EXPECT_EQ(all_of(2), (std::vector<std::uint32_t>{7, 8}));
  EXPECT_FALSE(r.anything_left());
  EXPECT_FALSE(r.steal(1, 1));
}

TEST(loop_pace, a_piece_takes_its_time_and_leaves_half_of_the_range_to_others) {
  loop_pace pace{.piece_cycles = 1000.0, .gap_cycles = 5000.0};
  EXPECT_EQ(pace.wanted(1000), 1u) << "nothing is known";
  EXPECT_EQ(pace.least(), 1u);
  pace.add(4, 40);
  EXPECT_EQ(pace.wanted(1000), 100u);
  EXPECT_EQ(pace.wanted(120), 60u);
  EXPECT_EQ(pace.least(), 5u) << "a twentieth of a piece";
  EXPECT_EQ(pace.wanted(6), 5u);
  pace.add(10, 140);
  EXPECT_DOUBLE_EQ(pace.block_cycles, 11.0) << "longer ones are believed by a quarter";
  pace.add(10, 90);
  EXPECT_DOUBLE_EQ(pace.block_cycles, 9.0) << "shorter ones at once";
  EXPECT_EQ(pace.lost_cycles, 0u);
  pace.add(100, 900 + 9000);
  EXPECT_EQ(pace.lost_cycles, 9000u) << "it was interrupted";
  EXPECT_DOUBLE_EQ(pace.block_cycles, 9.0 + 90.0 / 16);
}

}  // namespace
}  // namespace kilter::inline v0::detail
