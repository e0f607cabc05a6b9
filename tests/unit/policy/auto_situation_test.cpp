// What auto sees, as tables: when cores are free, how long a task takes there, what is left.
// Numbers in, answer out; no view, no machine.

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "policy/auto_situation.hpp"
#include "unit/support.hpp"

namespace kilter::auto_parts {
namespace {

using test::ms;
using test::us;

// ---- free cores and times -----------------------------------------------------------------------

TEST(auto_situation, when_a_core_is_expected_to_be_free) {
  struct row {
    bool idle;
    double end_s, missed_s, now_s, promised_s, free_s;
    const char* why;
  };
  for (const row& r : {
           row{true, 7.0, 0.0, 5.0, 5.0, 5.0, "an idle core is free, whatever it was expected"},
           row{false, 0.0, 0.0, 5.0, 5.0, 5.0, "nothing is known of what it does"},
           row{false, 7.0, 0.0, 5.0, 7.0, 7.0, "at work until then"},
           row{false, 5.0, 0.0, 5.0, 5.0, 5.0, "just done"},
           row{false, 4.0, 0.0, 5.0, 4.0, 6.0, "overdue by 1: it will take 1 more"},
           row{false, 1.0, 0.0, 5.0, 1.0, 9.0, "overdue by 4"},
           row{true, 0.0, 4.99, 5.0, 4.99, 5.01, "idle, but it has not come for 10 ms"},
           row{true, 0.0, 4.9, 5.0, 5.0, 5.0, "that was too long ago to say anything"},
           row{false, 7.0, 4.99, 5.0, 7.0, 7.0, "what is at work has come"},
       }) {
    const double promised_s = promised_at_s(r.idle, r.end_s, r.missed_s, r.now_s);
    EXPECT_EQ(promised_s, r.promised_s) << r.why;
    EXPECT_DOUBLE_EQ(free_at_s(promised_s, r.now_s), r.free_s) << r.why;
  }
}

TEST(auto_situation, how_long_a_task_takes_beside_a_neighbour) {
  struct row {
    double mean_s, slowdown, gap_s, expected_s;
    const char* why;
  };
  for (const row& r : {
           row{2 * ms, 2.0, -1.0, 2 * ms, "no rhythm: the mean of all gaps"},
           row{2 * ms, 2.0, 0.0, 1 * ms, "it fits before the next gap"},
           row{2 * ms, 2.0, 4 * ms, 5 * ms, "it ends in a gap"},
           row{3 * ms, 1.5, 4 * ms, 6 * ms, "less slowed"},
       })
    EXPECT_DOUBLE_EQ(sliced_s(r.mean_s, r.slowdown, r.gap_s), r.expected_s) << r.why;
  EXPECT_TRUE(mean_says_all(1.0, false));
  EXPECT_TRUE(mean_says_all(2.0, true)) << "the gaps are the quota's";
  EXPECT_FALSE(mean_says_all(2.0, false));
}

TEST(auto_situation, a_short_task_is_on_the_long_way_only_by_more_than_predictions_are_wrong_by) {
  EXPECT_TRUE(short_on_long_way(1 * ms, 0.5 * ms)) << "a chain, two cores";
  EXPECT_FALSE(short_on_long_way(1 * ms, 1 * ms)) << "two tasks a layer, two cores";
  EXPECT_FALSE(short_on_long_way(1.04 * ms, 1 * ms));
  EXPECT_TRUE(short_on_long_way(1.06 * ms, 1 * ms));
  EXPECT_TRUE(short_on_long_way(20 * us, 0.0)) << "the last task";
}

TEST(auto_situation, how_long_a_wide_task_takes_beside_neighbours) {
  struct member {
    double gap_s, slowdown;
  };
  struct row {
    double mean_s, slowdown;
    std::vector<member> members;
    double expected_s;
    const char* why;
  };
  for (const row& r : {
           row{2 * ms, 2.0, {{0.0, 2.0}, {0.0, 1.0}}, 1 * ms, "no gap comes"},
           row{2 * ms, 2.0, {{4 * ms, 2.0}, {0.0, 1.0}}, 5 * ms, "one member is away"},
           row{2 * ms,
               2.0,
               {{4 * ms, 2.0}, {3 * ms, 2.0}},
               5 * ms,
               "two are: the longest gap counts, not their sum"},
           row{2 * ms,
               2.0,
               {{-1.0, 2.0}, {4 * ms, 1.0}},
               2 * ms,
               "a disturbed member without a rhythm: the mean"},
           row{2 * ms,
               2.0,
               {{-1.0, 1.0}, {4 * ms, 2.0}},
               5 * ms,
               "an undisturbed member needs no rhythm"},
           row{2 * ms, 2.0, {{-1.0, 1.05}, {0.0, 2.0}}, 1 * ms, "1.05 is not disturbed yet"},
           row{2 * ms, 2.0, {{-1.0, 1.06}, {0.0, 2.0}}, 2 * ms, "1.06 is"},
       }) {
    wide_time wide(r.mean_s, r.slowdown);
    for (const member& m : r.members) wide.add(m.gap_s, m.slowdown);
    EXPECT_DOUBLE_EQ(wide.seconds(), r.expected_s) << r.why;
  }
}

// ---- the situation ------------------------------------------------------------------------------

constexpr double no_quota = std::numeric_limits<double>::infinity();

core_facts idle_core(double time_s) { return {.time_s = time_s}; }
core_facts asking_core(double time_s, double slowdown = 1.0) {
  return {.time_s = time_s, .at_work = true, .slowdown = slowdown};
}
core_facts busy_core(double time_s, double free_s, double slowdown = 1.0) {
  return {.time_s = time_s, .free_s = free_s, .at_work = true, .slowdown = slowdown};
}

/// At 10 s, with cores that are free so many seconds later; the first one asks.
situation seen(const std::vector<core_facts>& cores, double paid = no_quota,
               const graph_facts& g = {}) {
  situation_builder all(10.0, 3, static_cast<std::uint32_t>(cores.size()), paid,
                        cores.front().time_s);
  for (core_facts c : cores) {
    c.free_s += 10.0;
    all.add(c);
  }
  return all.finish(g);
}

TEST(auto_situation, what_all_cores_are_worth_and_which_are_free) {
  struct row {
    std::vector<core_facts> cores;
    double paid, fastest_s, worth;
    std::uint32_t idle;
    const char* why;
  };
  for (const row& r : {
           row{{asking_core(1 * ms)}, no_quota, 1 * ms, 1.0, 1, "one core"},
           row{{asking_core(1 * ms), idle_core(1 * ms), idle_core(1 * ms)},
               no_quota,
               1 * ms,
               3.0,
               3,
               "three alike"},
           row{{asking_core(4 * ms), idle_core(1 * ms)},
               no_quota,
               1 * ms,
               1.25,
               2,
               "a slow core asks: worth a quarter of the fast one"},
           row{{asking_core(1 * ms), busy_core(1 * ms, 2 * ms)},
               no_quota,
               1 * ms,
               2.0,
               1,
               "one is busy"},
           row{{asking_core(1 * ms), busy_core(1 * ms, 49 * us)},
               no_quota,
               1 * ms,
               2.0,
               2,
               "busy for a twentieth of the task: as good as free"},
           row{{asking_core(1 * ms), busy_core(1 * ms, 51 * us)},
               no_quota,
               1 * ms,
               2.0,
               1,
               "a little longer: not free"},
           row{{asking_core(1 * ms), idle_core(1 * ms), idle_core(1 * ms)},
               2.0,
               1 * ms,
               2.0,
               2,
               "a quota pays for two: one besides the one that asks"},
           row{{asking_core(1 * ms), idle_core(1 * ms), idle_core(1 * ms)},
               1.5,
               1 * ms,
               1.5,
               1,
               "one and a half: only the one that asks"},
           row{{asking_core(1 * ms), busy_core(1 * ms, 1.0), idle_core(1 * ms)},
               2.0,
               1 * ms,
               2.0,
               1,
               "of two that are paid one is busy"},
           row{{asking_core(1 * ms), idle_core(2 * ms), idle_core(4 * ms)},
               2.0,
               1 * ms,
               1.5,
               2,
               "what is paid counts for the fastest kind first"},
           row{{asking_core(1 * ms), idle_core(1 * ms)},
               0.0,
               1 * ms,
               0.0,
               1,
               "nothing is paid: still the one that asks"},
       }) {
    const situation s = seen(r.cores, r.paid);
    EXPECT_DOUBLE_EQ(s.fastest_s, r.fastest_s) << r.why;
    EXPECT_DOUBLE_EQ(s.worth, r.worth) << r.why;
    EXPECT_EQ(s.idle, r.idle) << r.why;
    EXPECT_EQ(s.waiting, 3u);
  }
}

TEST(auto_situation, a_quota_is_used_up_when_no_core_is_better_off) {
  core_facts cut = busy_core(1 * ms, 1.0);
  cut.gap_s = 4 * ms;
  struct row {
    std::vector<core_facts> cores;
    double paid;
    bool all_slowed;
    const char* why;
  };
  for (const row& r : {
           row{{asking_core(1 * ms, 2.0), busy_core(1 * ms, 1.0, 2.0)},
               no_quota,
               true,
               "both slowed alike"},
           row{{asking_core(1 * ms, 1.0), busy_core(1 * ms, 1.0, 2.0)},
               no_quota,
               false,
               "one is not slowed: a neighbour"},
           row{{asking_core(1 * ms, 1.05), busy_core(1 * ms, 1.0, 1.05)},
               no_quota,
               false,
               "that is noise"},
           row{{asking_core(1 * ms, 1.06), busy_core(1 * ms, 1.0, 1.06)},
               no_quota,
               true,
               "that is not"},
           row{{asking_core(1 * ms, 1.4), busy_core(1 * ms, 1.0, 2.0)},
               no_quota,
               false,
               "more than 1.4 times apart"},
           row{{asking_core(1 * ms, 1.5), busy_core(1 * ms, 1.0, 2.0)}, no_quota, true, "less"},
           row{{asking_core(1 * ms, 1.3), cut},
               no_quota,
               true,
               "a core whose gaps still come is slowed"},
           row{{asking_core(1 * ms, 2.0), idle_core(1 * ms)},
               no_quota,
               false,
               "half of the cores say nothing about all"},
           row{{asking_core(1 * ms, 2.0), busy_core(1 * ms, 1.0, 2.0), idle_core(1 * ms)},
               no_quota,
               true,
               "two of three do"},
           row{{asking_core(1 * ms), idle_core(1 * ms)},
               1.0,
               true,
               "the system tells: as many at work as are paid for"},
           row{{asking_core(1 * ms, 2.0), idle_core(1 * ms)},
               1.5,
               false,
               "the system tells: half a core is left, whatever the slowdowns"},
           row{{asking_core(1 * ms), busy_core(1 * ms, 1.0)},
               1.5,
               true,
               "two at work, one and a half paid for"},
           row{{asking_core(1 * ms), busy_core(1 * ms, 1.0)},
               2.0,
               false,
               "all are paid for: no quota"},
       })
    EXPECT_EQ(seen(r.cores, r.paid).all_slowed, r.all_slowed) << r.why;
}

TEST(auto_situation, gaps_are_asked_for_only_while_they_can_matter) {
  situation_builder all(0.0, 0, 3, no_quota, 1 * ms);
  EXPECT_TRUE(all.needs_gap(asking_core(1 * ms)));
  EXPECT_FALSE(all.needs_gap(asking_core(1 * ms, 2.0))) << "slowed anyway";
  EXPECT_FALSE(all.needs_gap(idle_core(1 * ms)));
  all.add(asking_core(1 * ms));
  EXPECT_FALSE(all.needs_gap(busy_core(1 * ms, 1.0))) << "one core is not slowed: not all are";
}

TEST(auto_situation, what_is_left_in_seconds_of_the_fastest_core) {
  const std::vector<core_facts> two{asking_core(2 * ms), idle_core(2 * ms)};
  struct row {
    std::vector<core_facts> cores;
    graph_facts graph;  // left, own, rank, later, quickest
    double left_s, way_s, later_s, quicker;
    bool on_long_way;
    const char* why;
  };
  for (const row& r : {
           row{two,
               {8 * ms, 2 * ms, 3 * ms, 4 * ms, {}},
               4 * ms,
               3 * ms,
               2 * ms,
               1.0,
               false,
               "on two cores"},
           row{two,
               {8 * ms, 1 * ms, 3 * ms, 4 * ms, {}},
               8 * ms,
               6 * ms,
               4 * ms,
               1.0,
               false,
               "the task takes twice what was predicted: so does all the rest"},
           row{two,
               {8 * ms, 2 * ms, 5 * ms, 0.0, {}},
               4 * ms,
               5 * ms,
               0.0,
               1.0,
               true,
               "its way takes longer than all that is left"},
           row{two,
               {-1.0, 2 * ms, 2 * ms, 0.0, {}},
               0.0,
               2 * ms,
               0.0,
               1.0,
               true,
               "less than nothing is nothing"},
           row{two,
               {8 * ms, 0.0, 3 * ms, 4 * ms, {}},
               0.0,
               0.0,
               0.0,
               1.0,
               false,
               "no prediction when it came"},
           row{{asking_core(2 * ms), busy_core(2 * ms, 6 * ms)},
               {8 * ms, 2 * ms, 3 * ms, 0.0, {}},
               7 * ms,
               3 * ms,
               0.0,
               1.0,
               false,
               "what runs for 6 ms more is not done"},
           row{{asking_core(4 * ms), busy_core(2 * ms, 3 * ms)},
               {0.0, 2 * ms, 1.5 * ms, 0.0, {}},
               2 * ms,
               1.5 * ms,
               0.0,
               1.0,
               false,
               "3 ms on the fast core, with half another beside it"},
           row{two,
               {8 * ms, 2 * ms, 3 * ms, 0.0, 0.5 * ms},
               4 * ms,
               3 * ms,
               0.0,
               0.25,
               false,
               "a wide place is four times as fast"},
           row{two,
               {8 * ms, 2 * ms, 3 * ms, 0.0, 3 * ms},
               4 * ms,
               3 * ms,
               0.0,
               1.0,
               false,
               "no place is faster"},
       }) {
    const situation s = seen(r.cores, no_quota, r.graph);
    EXPECT_NEAR(s.left_s, r.left_s, 1e-12) << r.why;
    EXPECT_DOUBLE_EQ(s.way_s, r.way_s) << r.why;
    EXPECT_DOUBLE_EQ(s.later_s, r.later_s) << r.why;
    EXPECT_DOUBLE_EQ(s.quicker, r.quicker) << r.why;
    EXPECT_EQ(s.on_long_way(), r.on_long_way) << r.why;
  }
}

}  // namespace
}  // namespace kilter::auto_parts
