// What the trace table computes, as tables: numbers in, estimate out.

#include <gtest/gtest.h>

#include <vector>

#include "model/estimate.hpp"
#include "unit/support.hpp"

namespace kilter::model {
namespace {

using test::ms;
using test::us;

TEST(estimate, a_change_below_a_sixty_fourth_is_no_news) {
  struct row {
    double now, before;
    bool expected;
    const char* why;
  };
  for (const row& r : {
           row{1.0, 1.0, false, "no change"},
           row{1.0156, 1.0, false, "a little more"},
           row{1.0157, 1.0, true, "more"},
           row{0.9844, 1.0, false, "a little less"},
           row{0.9843, 1.0, true, "less"},
           row{1.0, 0.0, true, "the first"},
       })
    EXPECT_EQ(differs(r.now, r.before), r.expected) << r.why;
}

TEST(estimate, the_papers_average) {
  struct row {
    double mean_s;
    std::uint64_t samples;
    double sample_s, weight, expected_s;
    const char* why;
  };
  for (const row& r : {
           row{0.0, 0, 10.0, 0.2, 10.0, "the first sample replaces"},
           row{99.0, 0, 10.0, 0.2, 10.0, "whatever was guessed"},
           row{10.0, 1, 20.0, 0.2, 12.0, "(4 x 10 + 20) / 5"},
           row{10.0, 1000, 20.0, 0.2, 12.0, "however many there were"},
           row{10.0, 1, 20.0, 0.5, 15.0, "half and half"},
           row{10.0, 1, 20.0, 1.0, 20.0, "no memory"},
       })
    EXPECT_DOUBLE_EQ(averaged(r.mean_s, r.samples, r.sample_s, old_weight_of(r.weight)),
                     r.expected_s)
        << r.why;
}

TEST(estimate, what_the_body_took) {
  struct row {
    double sample_s, cpu_s, expected_s;
    const char* why;
  };
  for (const row& r : {
           row{5 * ms, 0.0, 5 * ms, "CPU time is not measured"},
           row{5 * ms, 1 * ms, 1 * ms, "others had the core for 4 ms"},
           row{5 * ms, 6 * ms, 5 * ms, "never more than what passed"},
       })
    EXPECT_EQ(body_s(r.sample_s, r.cpu_s), r.expected_s) << r.why;
}

TEST(estimate, which_short_samples_are_remembered) {
  struct row {
    double skipped_s, own_s;
    std::uint32_t remembered;
    bool skipped;
    const char* why;
  };
  for (const row& r : {
           row{0.0, 1 * us, 16, true, "the window is full and the last one was just remembered"},
           row{0.0, 1 * us, 15, false, "the window is not full"},
           row{47 * us, 1 * us, 16, true, "not long enough ago"},
           row{48 * us, 1 * us, 16, false, "48 us ago"},
           row{0.0, 47 * us, 16, true, "shorter than that"},
           row{0.0, 48 * us, 16, false, "a long one always"},
       })
    EXPECT_EQ(is_skipped(r.skipped_s, r.own_s, r.remembered), r.skipped) << r.why;
}

TEST(estimate, how_many_samples_still_count_after_a_pause) {
  struct row {
    std::uint32_t remembered;
    double pause_s;
    std::uint32_t at_least, expected;
    const char* why;
  };
  for (const row& r : {
           row{16, 0.25, 3, 16, "a pause as long as allowed"},
           row{16, 0.26, 3, 0, "longer: the work may be another"},
           row{3, 0.26, 3, 0, "three are enough to begin anew"},
           row{2, 0.26, 3, 2, "two are kept: there is nothing better"},
           row{2, 0.26, 0, 0, "a wide place begins anew with any"},
       })
    EXPECT_EQ(still_counted(r.remembered, r.pause_s, 0.25, r.at_least), r.expected) << r.why;
}

TEST(estimate, when_a_settled_time_is_worked_out_anew) {
  struct row {
    std::uint32_t n;
    double sample_s;
    bool trusted, due;
    const char* why;
  };
  for (const row& r : {
           row{2, 1 * us, false, false, "after a pause two samples say too little"},
           row{2, 1 * us, true, true, "unless CPU time was measured"},
           row{3, 1 * us, false, true, "three are enough"},
           row{16, 1 * us, false, true, "while the window fills each counts"},
           row{17, 1 * us, false, false, "then every fourth"},
           row{18, 1 * us, true, false, "measured or not"},
           row{20, 1 * us, false, true, "this is one"},
           row{17, 1 * ms, false, true, "a long one always"},
           row{17, 0.99 * ms, false, false, "not as long"},
       })
    EXPECT_EQ(is_due(r.n, r.sample_s, r.trusted), r.due) << r.why;
}

TEST(estimate, a_gap_lies_in_the_middle_of_the_task_that_it_cut) {
  const away gone = away_in(2 * ms, 4 * ms, 1.0);
  EXPECT_DOUBLE_EQ(gone.end_s, 0.999) << "1 ms of the task came after it";
  EXPECT_DOUBLE_EQ(gone.begin_s, 0.995);
}

TEST(estimate, a_slice_that_was_lost_counts_at_once) {
  EXPECT_FALSE(is_lost_slice(0.49 * ms, 1 * ms))
      << "less than half of what must be lost before a move";
  EXPECT_TRUE(is_lost_slice(0.51 * ms, 1 * ms));
}

TEST(estimate, which_peers_hold_their_common_time_down) {
  EXPECT_TRUE(holds_down(true, 0.99));
  EXPECT_FALSE(holds_down(true, 1.01)) << "measured too long ago";
  EXPECT_FALSE(holds_down(false, 0.0)) << "on too few samples";
}

/// A window of which the samples lie where they were remembered, the last of `seconds` last.
struct window_of {
  cell_state cell;
  std::uint32_t remembered = 0;
  explicit window_of(const std::vector<double>& seconds) {
    for (const double s : seconds)
      cell.recent[remembered++ % cell_state::window].store(static_cast<float>(s),
                                                           sync::memory_order_relaxed);
  }
};
std::vector<double> many(std::size_t n, double seconds, std::initializer_list<double> then = {}) {
  std::vector<double> all(n, seconds);
  all.insert(all.end(), then);
  return all;
}

TEST(estimate, the_low_median_of_the_last_samples) {
  struct row {
    std::vector<double> seconds;
    std::uint32_t count;
    double expected_s;
    const char* why;
  };
  for (const row& r : {
           row{{1.0}, 1, 1.0, "one"},
           row{{2.0, 1.0}, 2, 1.0, "of two the lower"},
           row{{3.0, 1.0, 2.0}, 3, 2.0, "of three the middle one"},
           row{{9.0, 9.0, 1.0, 2.0, 3.0}, 3, 2.0, "older ones do not count"},
           row{many(16, 9.0, {1.0, 2.0, 3.0}), 3, 2.0, "where the window begins again too"},
           row{many(8, 1.0, {9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0}), 16, 1.0,
               "half of them disturbed"},
           row{many(7, 1.0, {9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0}), 16, 9.0,
               "more than half: it is the work"},
       }) {
    const window_of w(r.seconds);
    EXPECT_EQ(low_median(w.cell, w.remembered, r.count), r.expected_s) << r.why;
  }
}

TEST(estimate, the_mean_of_a_window_without_gaps) {
  struct row {
    std::vector<double> seconds;
    double typical_s, expected_s;
    const char* why;
  };
  for (const row& r : {
           row{many(8, 1 * ms, {2 * ms, 2 * ms, 2 * ms, 2 * ms, 2 * ms, 2 * ms, 2 * ms, 2 * ms}),
               1 * ms, 1.5 * ms, "work that varies is averaged"},
           row{many(15, 1 * ms, {5 * ms}), 1 * ms, 1 * ms, "a sample with a gap does not count"},
           row{many(15, 1 * ms, {2.4 * ms}), 1 * ms, 1.0875 * ms,
               "twice as long and less than half a millisecond more is no gap"},
           row{many(15, 10 * us, {500 * us}), 10 * us, 40.625 * us,
               "half a millisecond is no gap, however short the others"},
           row{many(9, 1 * ms, {9 * ms, 9 * ms, 9 * ms, 9 * ms, 9 * ms, 9 * ms, 9 * ms}), 1 * ms,
               1 * ms, "seven gaps of sixteen"},
           row{many(8, 1 * ms, {9 * ms, 9 * ms, 9 * ms, 9 * ms, 9 * ms, 9 * ms, 9 * ms, 9 * ms}),
               1 * ms, 0.0, "eight: the work has changed"},
       }) {
    const window_of w(r.seconds);
    EXPECT_NEAR(mean_without_gaps(w.cell, r.typical_s), r.expected_s, 1e-6 * r.expected_s) << r.why;
  }
}

TEST(estimate, how_many_samples_the_window_reaches_back) {
  struct row {
    double sample_s;
    std::uint32_t expected;
    const char* why;
  };
  for (const row& r : {
           row{1 * us, 16, "short ones: all"},
           row{4 * ms, 16, "16 of 4 ms are 64"},
           row{8 * ms, 8, "as many as fit into 64 ms"},
           row{20 * ms, 3, "three"},
           row{100 * ms, 3, "never fewer"},
       })
    EXPECT_EQ(window_for(r.sample_s), r.expected) << r.why;
}

TEST(estimate, the_time_that_peers_share_falls_at_once_and_rises_slowly) {
  struct row {
    double reference_s, own_s;
    reference_move move;
    double lowered_s;  // where it falls
    const char* why;
  };
  for (const row& r : {
           row{1.0, 1.0, reference_move::none, 0.0, "it is what it was"},
           row{1.0, 1.01, reference_move::none, 0.0, "noise above it"},
           row{1.0, 1.02, reference_move::may_rise, 0.0, "heavier work, or a disturbance"},
           row{1.0, 0.7, reference_move::falls, 0.7, "lighter work"},
           row{1.0, 0.76, reference_move::falls, 0.97, "an eighth of the way: it may be luck"},
           row{1.0, 0.992, reference_move::falls, 0.999, "however little"},
           row{1.0, 0.75, reference_move::falls, 0.96875, "three quarters are not much less yet"},
           row{2.0, 1.4, reference_move::falls, 1.4, "of longer work the same shares"},
           row{2.0, 1.6, reference_move::falls, 1.95, "and steps"},
       }) {
    EXPECT_EQ(move_of(r.reference_s, r.own_s), r.move) << r.why;
    if (r.move == reference_move::falls) {
      EXPECT_DOUBLE_EQ(lowered(r.reference_s, r.own_s), r.lowered_s) << r.why;
    }
  }
}

TEST(estimate, heavier_work_is_followed_in_a_quarter_of_a_second) {
  struct row {
    double since_s, observed_s;
    bool asks;
    double risen;  // of the difference
    const char* why;
  };
  for (const row& r : {
           row{1.9 * ms, 1 * us, false, 0.0, "asked just before"},
           row{2 * ms, 1 * us, true, 2.0 / 250, "2 of 250 ms"},
           row{6 * ms, 1 * us, true, 6.0 / 250, "6 ms later"},
           row{1.0, 1 * us, true, 8.0 / 250, "a pause counts for 8 ms at most"},
           row{20 * ms, 20 * ms, true, 20.0 / 250, "a long sample for all of its time"},
           row{1 * ms, 20 * ms, true, 1.0 / 250, "but not twice what another has seen"},
           row{1.0, 0.5, true, 1.0, "half a second: all of it"},
           row{1 * ms, 2 * ms, true, 1.0 / 250, "a sample as long as the pause between two looks"},
       }) {
    EXPECT_EQ(asks_peers(r.since_s, r.observed_s), r.asks) << r.why;
    if (r.asks) {
      EXPECT_DOUBLE_EQ(raised(1.0, 3.0, r.since_s, r.observed_s), 1.0 + 2.0 * r.risen) << r.why;
    }
  }
}

TEST(estimate, a_wide_place_forgets_by_time_not_by_samples) {
  constexpr double forgotten = 1.0 - 0.36787944117;  // 1 - 1/e
  struct row {
    double mean_s, undisturbed_s, sample_s, expected_s;
    const char* why;
  };
  for (const row& r : {
           row{1.0, 2.0, 0.0, 1.0, "no time has passed"},
           row{1.0, 2.0, 0.032, 1.0 + forgotten, "one time constant"},
           row{1.0, 3.0, 0.032, 1.0 + 2.0 * forgotten, "of any difference the same share"},
           row{1.0, 2.0, 10.0, 2.0, "a sample longer than the window replaces"},
           row{2.0, 1.0, 0.032, 2.0 - forgotten, "downwards as well"},
       })
    EXPECT_NEAR(wide_mean(r.mean_s, r.undisturbed_s, r.sample_s, 0.032), r.expected_s, 1e-5)
        << r.why;
}

TEST(estimate, a_guess_comes_from_the_nearest_that_is_known) {
  const known_group peers{.same_cluster = true, .width = 2, .seconds = 3 * ms},
      narrower{.same_cluster = true, .width = 1, .seconds = 8 * ms},
      elsewhere{.same_cluster = false, .width = 2, .seconds = 5 * ms},
      other{.same_cluster = false, .width = 4, .seconds = 2 * ms},
      wider{.same_cluster = true, .width = 4, .seconds = 1 * ms};
  const known_group by_units{
      .same_cluster = false, .width = 4, .seconds = 2 * ms, .unit_s = 4 * us},
      unknown{.same_cluster = true, .width = 2};
  struct row {
    double unit_s;
    std::vector<known_group> known;
    double expected_s;
    const char* why;
  };
  // Asked: width 2, cores that take twice as long as those of other clusters by their nominal
  // speeds.
  for (const row& r : {
           row{0.0, {}, 0.0, "nothing is known"},
           row{0.0, {unknown}, 0.0, "a group without a time is not known"},
           row{0.0, {narrower, peers, elsewhere}, 3 * ms, "peers"},
           row{0.0, {peers, narrower, elsewhere}, 3 * ms, "in any order"},
           row{0.0,
               {elsewhere, narrower, other},
               4.25 * ms,
               "another width of the cluster, half the time and a sixteenth"},
           row{0.0,
               {wider, narrower},
               2 * ms,
               "of two widths the first; narrower than what is known needs no margin"},
           row{0.0,
               {other, elsewhere},
               10 * ms,
               "the width in another cluster, whose cores are twice as fast"},
           row{0.0, {other}, 8 * ms, "anything"},
           row{6 * us,
               {by_units},
               3 * ms,
               "what a unit of work takes here and there says more than widths and nominal speeds"},
           row{0.0, {by_units}, 8 * ms, "it is not known here"},
           row{6 * us, {other}, 8 * ms, "it is not known there"},
       }) {
    nearest_guess guess(2, r.unit_s);
    for (const known_group& k : r.known)
      if (guess.is_nearer(k)) guess.take(k, k.same_cluster ? 1.0 : 2.0);
    EXPECT_DOUBLE_EQ(guess.seconds(), r.expected_s) << r.why;
  }
  EXPECT_DOUBLE_EQ(nominal_guess_s(1, 1.0), 1 * us);
  EXPECT_GT(nominal_guess_s(4, 1.0) * 4, nominal_guess_s(1, 1.0))
      << "an unknown width must not look cheaper";
  EXPECT_DOUBLE_EQ(nominal_guess_s(1, 2.0), 2 * us) << "on cores at half speed";
}

}  // namespace
}  // namespace kilter::model
