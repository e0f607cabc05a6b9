// What OpenBLAS gets while others use CPUs, as a table.
#include <gtest/gtest.h>

#include "openmp/blas_threads.hpp"

namespace kilter::regions {
namespace {

std::uint32_t after_two(threads_beside& b, double others) {
  (void)b.after(others);
  return b.after(others);
}

struct row {
  std::uint32_t cpus;
  double others;
  std::uint32_t threads;
};
class worth : public testing::TestWithParam<row> {};
TEST_P(worth, so_many_threads) {
  threads_beside b(GetParam().cpus);
  EXPECT_EQ(after_two(b, GetParam().others), GetParam().threads);
}
INSTANTIATE_TEST_SUITE_P(threads_beside, worth,
                         testing::Values(row{1, 0.0, 1}, row{1, 3.0, 1}, row{2, 0.0, 2},
                                         row{2, 0.2, 2},
                                         // a neighbour that shares a CPU with one of ours
                                         row{2, 0.5, 1},
                                         // and has one alone, once we have left it
                                         row{2, 1.0, 1}, row{2, 1.05, 1}, row{2, 1.5, 1},
                                         row{2, 2.0, 1}, row{8, 0.1, 8}, row{8, 0.5, 7},
                                         row{8, 1.0, 7}, row{8, 1.5, 6}, row{8, 7.9, 1},
                                         row{64, 0.3, 63}, row{64, 32.0, 32}));

TEST(threads_beside, one_odd_while_changes_nothing) {
  threads_beside b(2);
  EXPECT_EQ(after_two(b, 0.0), 2u);
  EXPECT_EQ(b.after(0.9), 2u);
  EXPECT_EQ(b.after(0.0), 2u);
  EXPECT_EQ(b.after(0.9), 2u);
  EXPECT_EQ(b.after(0.9), 1u);
}

TEST(threads_beside, between_the_two_it_stays_as_it_is) {
  threads_beside b(2);
  EXPECT_EQ(after_two(b, 0.35), 2u);
  EXPECT_EQ(after_two(b, 0.6), 1u);
  EXPECT_EQ(after_two(b, 0.35), 1u);
  EXPECT_EQ(after_two(b, 0.1), 2u) << "they are gone";
}

/// A program that comes to so many regions in a while; which part of the whiles OpenBLAS had one
/// thread.
struct with_regions {
  blas_beside_regions beside;
  std::int64_t regions = 0, now_ns = 0;
  bool one = false;
  double run(int whiles, int with_all, int with_one, double held_up) {
    int had_one = 0;
    for (int n = 0; n < whiles; ++n) {
      regions += one ? with_one : with_all;
      now_ns += 100'000'000;
      one = beside.after(one ? 0.0 : held_up, regions, now_ns);
      had_one += one;
    }
    return static_cast<double>(had_one) / whiles;
  }
};

TEST(others_use, what_counts_grows_with_the_error_of_the_ticks) {
  EXPECT_EQ(counts_as_used_of(1), counts_as_used);
  EXPECT_EQ(counts_as_used_of(2), counts_as_used);
  EXPECT_NEAR(counts_as_used_of(8), 2.0 * counts_as_used, 1e-6);
  EXPECT_NEAR(counts_as_used_of(128), 8.0 * counts_as_used, 1e-6);
  EXPECT_LT(counts_as_used_of(16), 1.0) << "one busy program is seen on sixteen CPUs";
}

TEST(blas_beside_regions, one_thread_where_the_program_comes_to_more_regions_with_it) {
  with_regions p;
  p.run(10, 40, 100, 0.5);
  EXPECT_GT(p.run(600, 40, 100, 0.5), 0.9);
  with_regions long_calls;
  long_calls.run(10, 40, 30, 0.5);
  EXPECT_LT(long_calls.run(600, 40, 30, 0.5), 0.1);
}

TEST(blas_beside_regions, nothing_is_tried_where_no_thread_is_held_up) {
  with_regions p;
  EXPECT_EQ(p.run(600, 40, 100, 0.1), 0.0);
}

TEST(blas_beside_regions, all_threads_at_once_where_no_more_regions_come) {
  with_regions p;
  p.run(10, 40, 100, 0.5);
  EXPECT_TRUE(p.one);
  EXPECT_EQ(p.run(10, 0, 0, 0.0), 0.0);
}

TEST(blas_number, never_more_than_the_program_asks_for) {
  blas_number b;
  EXPECT_EQ(b.next(4, 8), 4u);
  EXPECT_EQ(b.next(4, 3), 3u);
  EXPECT_EQ(b.next(3, 8), 4u) << "as many as at first";
  EXPECT_EQ(b.asked(), 4u);
}

TEST(blas_number, what_the_program_sets_meanwhile_counts) {
  blas_number b;
  EXPECT_EQ(b.next(4, 2), 2u);
  EXPECT_EQ(b.next(1, 2), 1u) << "the program has set it to one";
  EXPECT_EQ(b.next(1, 8), 1u);
  EXPECT_EQ(b.next(4, 8), 4u) << "and to four again";
}

TEST(blas_number, knows_that_a_program_has_lowered_it_for_now) {
  blas_number b;
  EXPECT_EQ(b.next(2, 2), 2u);
  EXPECT_EQ(b.next(1, 1), 1u);
  EXPECT_TRUE(b.lowered_below(1)) << "it may come back to two";
  EXPECT_EQ(b.next(2, 1), 1u);
  EXPECT_FALSE(b.lowered_below(1)) << "that was us";
}

}  // namespace
}  // namespace kilter::regions
