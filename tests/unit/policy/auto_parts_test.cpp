// What the default policy computes, as tables: numbers in, answer out. No view, no machine.

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

#include "policy/auto_choice.hpp"
#include "policy/auto_quota.hpp"

namespace kilter::auto_parts {
namespace {

constexpr double ms = 1e-3, us = 1e-6;

// ---- notes and cells ---------------------------------------------------------------------------------------------------------------

TEST(auto_notes, a_task_keeps_its_three_times_and_its_note_apart) {
  const ranks::task_rank all{.own_s = 1.5F, .rank_s = 2.5F, .later_s = 3.5F, .note = 0xdeadbeef};
  EXPECT_EQ(ranks::task_rank::of(all.packed()), all);
  EXPECT_EQ(ranks::task_rank{}.packed(), task_state{});
  const std::vector<ranks::task_rank> one_each{{.own_s = 1.0F}, {.rank_s = 1.0F}, {.later_s = 1.0F}, {.note = ~0u}};
  for (std::size_t i = 0; i < one_each.size(); ++i)
    for (std::size_t k = 0; k < i; ++k) {
      const task_state a = one_each[i].packed(), b = one_each[k].packed();
      EXPECT_TRUE((a.a & b.a) == 0 && (a.b & b.b) == 0) << i << " and " << k << " share bits";
    }
}

TEST(auto_notes, whether_it_waits_and_when_it_was_declined_do_not_disturb_each_other) {
  queue_note note;
  EXPECT_FALSE(note.waits());
  note.enter_queue();
  EXPECT_TRUE(note.waits());
  EXPECT_FALSE(note.was_declined());
  note.decline(0.0);
  EXPECT_TRUE(note.waits());
  EXPECT_TRUE(note.was_declined()) << "at time 0 too";
  const std::uint32_t before = note.bits();
  note.decline(5.0);
  EXPECT_EQ(note.bits(), before) << "the first time counts";
  EXPECT_EQ(queue_note(note.bits()).bits(), before);
}

TEST(auto_notes, the_time_since_a_task_was_declined) {
  constexpr double wrap_s = 8e-6 * 2147483648.0;
  struct row {
    double declined_s, now_s, since_s;
    const char* why;
  };
  for (const row& r : {
           row{0.0, 0.0, 0.0, "at once"},
           row{0.0, 1.0, 1.0, "from the beginning"},
           row{1.0, 1.0 + 100 * us, 100 * us, "short"},
           row{1.0, 3601.0, 3600.0, "an hour"},
           row{wrap_s - 1.0, wrap_s + 1.0, 2.0, "the clock wraps in between"},
           row{3.0 * wrap_s + 7.0, 3.0 * wrap_s + 9.5, 2.5, "the clock has wrapped before"},
       }) {
    queue_note note;
    note.enter_queue();
    note.decline(r.declined_s);
    EXPECT_NEAR(note.declined_for_s(r.now_s), r.since_s, 16 * us) << r.why;
  }
}

TEST(auto_notes, no_two_cells_are_one) {
  std::vector<std::uint32_t> all{search::offline_cell, left_cell, way_cell, spent_cell};
  for (core_id c = 0; c < 5; ++c)
    for (const core_cell what : {core_cell::end, core_cell::skip, core_cell::rest, core_cell::begun}) all.push_back(cell_of(c, what));
  std::ranges::sort(all);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
  EXPECT_EQ(all.back() + 1, cells_for(5)) << "and no more are asked for than are used";
}

// ---- free cores and times ----------------------------------------------------------------------------------------------------------

TEST(auto_situation, when_a_core_is_expected_to_be_free) {
  struct row {
    bool idle;
    double end_s, now_s, promised_s, free_s;
    const char* why;
  };
  for (const row& r : {
           row{true, 7.0, 5.0, 5.0, 5.0, "an idle core is free, whatever it was expected"},
           row{false, 0.0, 5.0, 5.0, 5.0, "nothing is known of what it does"},
           row{false, 7.0, 5.0, 7.0, 7.0, "at work until then"},
           row{false, 5.0, 5.0, 5.0, 5.0, "just done"},
           row{false, 4.0, 5.0, 4.0, 6.0, "overdue by 1: it will take 1 more"},
           row{false, 1.0, 5.0, 1.0, 9.0, "overdue by 4"},
       }) {
    const double promised_s = promised_at_s(r.idle, r.end_s, r.now_s);
    EXPECT_EQ(promised_s, r.promised_s) << r.why;
    EXPECT_EQ(free_at_s(promised_s, r.now_s), r.free_s) << r.why;
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
           row{2 * ms, 2.0, {{4 * ms, 2.0}, {3 * ms, 2.0}}, 5 * ms, "two are: the longest gap counts, not their sum"},
           row{2 * ms, 2.0, {{-1.0, 2.0}, {4 * ms, 1.0}}, 2 * ms, "a disturbed member without a rhythm: the mean"},
           row{2 * ms, 2.0, {{-1.0, 1.0}, {4 * ms, 2.0}}, 5 * ms, "an undisturbed member needs no rhythm"},
           row{2 * ms, 2.0, {{-1.0, 1.05}, {0.0, 2.0}}, 1 * ms, "1.05 is not disturbed yet"},
           row{2 * ms, 2.0, {{-1.0, 1.06}, {0.0, 2.0}}, 2 * ms, "1.06 is"},
       }) {
    wide_time wide(r.mean_s, r.slowdown);
    for (const member& m : r.members) wide.add(m.gap_s, m.slowdown);
    EXPECT_DOUBLE_EQ(wide.seconds(), r.expected_s) << r.why;
  }
}

// ---- the situation -----------------------------------------------------------------------------------------------------------------

constexpr double no_quota = std::numeric_limits<double>::infinity();

core_facts idle_core(double time_s) { return {.time_s = time_s}; }
core_facts asking_core(double time_s, double slowdown = 1.0) { return {.time_s = time_s, .at_work = true, .slowdown = slowdown}; }
core_facts busy_core(double time_s, double free_s, double slowdown = 1.0) {
  return {.time_s = time_s, .free_s = free_s, .at_work = true, .slowdown = slowdown};
}

/// At 10 s, with cores that are free so many seconds later; the first one asks.
situation seen(const std::vector<core_facts>& cores, double paid = no_quota, const graph_facts& g = {}) {
  situation_builder all(10.0, 3, static_cast<std::uint32_t>(cores.size()), paid, cores.front().time_s);
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
           row{{asking_core(1 * ms), idle_core(1 * ms), idle_core(1 * ms)}, no_quota, 1 * ms, 3.0, 3, "three alike"},
           row{{asking_core(4 * ms), idle_core(1 * ms)}, no_quota, 1 * ms, 1.25, 2, "a slow core asks: worth a quarter of the fast one"},
           row{{asking_core(1 * ms), busy_core(1 * ms, 2 * ms)}, no_quota, 1 * ms, 2.0, 1, "one is busy"},
           row{{asking_core(1 * ms), busy_core(1 * ms, 49 * us)}, no_quota, 1 * ms, 2.0, 2, "busy for a twentieth of the task: as good as free"},
           row{{asking_core(1 * ms), busy_core(1 * ms, 51 * us)}, no_quota, 1 * ms, 2.0, 1, "a little longer: not free"},
           row{{asking_core(1 * ms), idle_core(1 * ms), idle_core(1 * ms)}, 2.0, 1 * ms, 2.0, 2,
               "a quota pays for two: one besides the one that asks"},
           row{{asking_core(1 * ms), idle_core(1 * ms), idle_core(1 * ms)}, 1.5, 1 * ms, 1.5, 1, "one and a half: only the one that asks"},
           row{{asking_core(1 * ms), busy_core(1 * ms, 1.0), idle_core(1 * ms)}, 2.0, 1 * ms, 2.0, 1, "of two that are paid one is busy"},
           row{{asking_core(1 * ms), idle_core(2 * ms), idle_core(4 * ms)}, 2.0, 1 * ms, 1.5, 2, "what is paid counts for the fastest kind first"},
           row{{asking_core(1 * ms), idle_core(1 * ms)}, 0.0, 1 * ms, 0.0, 1, "nothing is paid: still the one that asks"},
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
           row{{asking_core(1 * ms, 2.0), busy_core(1 * ms, 1.0, 2.0)}, no_quota, true, "both slowed alike"},
           row{{asking_core(1 * ms, 1.0), busy_core(1 * ms, 1.0, 2.0)}, no_quota, false, "one is not slowed: a neighbour"},
           row{{asking_core(1 * ms, 1.05), busy_core(1 * ms, 1.0, 1.05)}, no_quota, false, "that is noise"},
           row{{asking_core(1 * ms, 1.06), busy_core(1 * ms, 1.0, 1.06)}, no_quota, true, "that is not"},
           row{{asking_core(1 * ms, 1.4), busy_core(1 * ms, 1.0, 2.0)}, no_quota, false, "more than 1.4 times apart"},
           row{{asking_core(1 * ms, 1.5), busy_core(1 * ms, 1.0, 2.0)}, no_quota, true, "less"},
           row{{asking_core(1 * ms, 1.3), cut}, no_quota, true, "a core whose gaps still come is slowed"},
           row{{asking_core(1 * ms, 2.0), idle_core(1 * ms)}, no_quota, false, "half of the cores say nothing about all"},
           row{{asking_core(1 * ms, 2.0), busy_core(1 * ms, 1.0, 2.0), idle_core(1 * ms)}, no_quota, true, "two of three do"},
           row{{asking_core(1 * ms), idle_core(1 * ms)}, 1.0, true, "the system tells: as many at work as are paid for"},
           row{{asking_core(1 * ms, 2.0), idle_core(1 * ms)}, 1.5, false, "the system tells: half a core is left, whatever the slowdowns"},
           row{{asking_core(1 * ms), busy_core(1 * ms, 1.0)}, 1.5, true, "two at work, one and a half paid for"},
           row{{asking_core(1 * ms), busy_core(1 * ms, 1.0)}, 2.0, false, "all are paid for: no quota"},
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
           row{two, {8 * ms, 2 * ms, 3 * ms, 4 * ms, {}}, 4 * ms, 3 * ms, 2 * ms, 1.0, false, "on two cores"},
           row{two, {8 * ms, 1 * ms, 3 * ms, 4 * ms, {}}, 8 * ms, 6 * ms, 4 * ms, 1.0, false,
               "the task takes twice what was predicted: so does all the rest"},
           row{two, {8 * ms, 2 * ms, 5 * ms, 0.0, {}}, 4 * ms, 5 * ms, 0.0, 1.0, true, "its way takes longer than all that is left"},
           row{two, {-1.0, 2 * ms, 2 * ms, 0.0, {}}, 0.0, 2 * ms, 0.0, 1.0, true, "less than nothing is nothing"},
           row{two, {8 * ms, 0.0, 3 * ms, 4 * ms, {}}, 0.0, 0.0, 0.0, 1.0, false, "no prediction when it came"},
           row{{asking_core(2 * ms), busy_core(2 * ms, 6 * ms)}, {8 * ms, 2 * ms, 3 * ms, 0.0, {}}, 7 * ms, 3 * ms, 0.0, 1.0, false,
               "what runs for 6 ms more is not done"},
           row{{asking_core(4 * ms), busy_core(2 * ms, 3 * ms)}, {0.0, 2 * ms, 1.5 * ms, 0.0, {}}, 2 * ms, 1.5 * ms, 0.0, 1.0, false,
               "3 ms on the fast core, with half another beside it"},
           row{two, {8 * ms, 2 * ms, 3 * ms, 0.0, 0.5 * ms}, 4 * ms, 3 * ms, 0.0, 0.25, false, "a wide place is four times as fast"},
           row{two, {8 * ms, 2 * ms, 3 * ms, 0.0, 3 * ms}, 4 * ms, 3 * ms, 0.0, 1.0, false, "no place is faster"},
       }) {
    const situation s = seen(r.cores, no_quota, r.graph);
    EXPECT_NEAR(s.left_s, r.left_s, 1e-12) << r.why;
    EXPECT_DOUBLE_EQ(s.way_s, r.way_s) << r.why;
    EXPECT_DOUBLE_EQ(s.later_s, r.later_s) << r.why;
    EXPECT_DOUBLE_EQ(s.quicker, r.quicker) << r.why;
    EXPECT_EQ(s.on_long_way(), r.on_long_way) << r.why;
  }
}

// ---- the place ---------------------------------------------------------------------------------------------------------------------

TEST(auto_choice, a_task_gets_its_share_of_the_cores_at_least_one) {
  struct row {
    bool all_slowed, paid_known;
    std::uint32_t cores, tasks, expected;
    const char* why;
  };
  for (const row& r : {
           row{false, false, 6, 1, 6, "alone"},
           row{false, false, 6, 2, 3, "two"},
           row{false, false, 6, 4, 1, "four on six"},
           row{false, false, 2, 40, 1, "many"},
           row{false, false, 0, 1, 1, "no core is free"},
           row{true, false, 6, 1, 1, "a quota that nobody tells of: CPU time counts"},
           row{true, true, 6, 2, 3, "a quota that is told of: the cores are the paid ones"},
       })
    EXPECT_EQ(share({.paid_known = r.paid_known, .all_slowed = r.all_slowed}, r.cores, r.tasks), r.expected) << r.why;
}

TEST(auto_choice, what_a_search_looks_for) {
  struct row {
    situation now;
    std::uint32_t share;
    bool on_long_way, anywhere;
    double wanted_s;
    const char* why;
  };
  const situation short_way{.fastest_s = 1 * ms, .left_s = 8 * ms, .way_s = 4 * ms}, long_way{.fastest_s = 1 * ms, .left_s = 4 * ms, .way_s = 8 * ms};
  situation slowed = long_way, paid = long_way;
  slowed.all_slowed = paid.all_slowed = paid.paid_known = true;
  for (const row& r : {
           row{short_way, 1, false, false, 0.0, "no share but its own core: what is cheapest around it"},
           row{short_way, 2, false, true, 0.0, "a share of two: what ends first"},
           row{long_way, 1, true, true, 0.5 * ms, "on the long way: twice as fast as the fastest core"},
           row{slowed, 1, false, false, 0.0, "CPU time is short: nothing is made wider"},
           row{paid, 1, true, true, 0.5 * ms, "and the system tells how much is left"},
       }) {
    const goal g = goal_of(r.now, r.share);
    EXPECT_EQ(g.on_long_way, r.on_long_way) << r.why;
    EXPECT_EQ(g.anywhere, r.anywhere) << r.why;
    EXPECT_DOUBLE_EQ(g.wanted_s, r.wanted_s) << r.why;
    EXPECT_DOUBLE_EQ(g.soon_s, 50 * us) << r.why;
  }
}

TEST(auto_choice, how_long_a_task_waits_for_a_place) {
  struct row {
    std::vector<double> promised_s;
    bool on_long_way;
    std::uint32_t width;
    double begin_s;
    bool waits;
    const char* why;
    double time_s = 1.0;
  };
  // At 10 s.
  for (const row& r : {
           row{{}, false, 1, 10.0, true, "its own core"},
           row{{10.0}, false, 2, 10.0, true, "free by now"},
           row{{10.04}, false, 2, 10.04, true, "within a twentieth of the task"},
           row{{10.06}, false, 2, 10.06, false, "longer: not worth it"},
           row{{10.9}, true, 2, 10.9, true, "on the long way as long as the task runs"},
           row{{11.0}, true, 2, 11.0, true, "not a moment less"},
           row{{11.1}, true, 2, 11.1, false, "longer than that"},
           row{{10.06}, true, 1, 10.06, false, "one core is worth no wait there either"},
           row{{9.6}, true, 2, 10.4, true, "overdue by .4: that guess was wrong once, so it counts twice"},
           row{{9.4}, true, 2, 10.6, false, "overdue by .6"},
           row{{9.98}, false, 2, 10.02, true, "overdue by .02"},
           row{{9.97}, false, 2, 10.03, false, "by .03, counted twice"},
           row{{10.2, 10.7, 10.0}, true, 4, 10.7, true, "the last of the members decides"},
           row{{10.06}, false, 2, 10.06, true, "within a twentieth of a task of 2 s", 2.0},
           row{{9.5, 10.6}, true, 4, 10.6, false, "the doubt of one adds to the wait for another"},
       }) {
    place_start start(10.0);
    for (const double p : r.promised_s) start.add(p);
    EXPECT_DOUBLE_EQ(start.begin_s(), r.begin_s) << r.why;
    EXPECT_EQ(start.worth_waiting_for({.now_s = 10.0, .on_long_way = r.on_long_way}, r.width, r.time_s), r.waits) << r.why;
  }
}

TEST(auto_choice, which_of_the_places_it_is) {
  // At 10 s.
  const option one{.where = 1, .width = 1, .time_s = 1.0, .begin_s = 10.0}, two{.where = 2, .width = 2, .time_s = 0.6, .begin_s = 10.0},
      four{.where = 4, .width = 4, .time_s = 0.4, .begin_s = 10.0}, waits{.where = 5, .width = 4, .time_s = 0.3, .begin_s = 10.2};
  const goal here{.now_s = 10.0, .soon_s = 10.05, .share = 1}, half{.now_s = 10.0, .soon_s = 10.05, .anywhere = true, .share = 2},
      all{.now_s = 10.0, .soon_s = 10.05, .anywhere = true, .share = 4};
  const auto long_way = [](double wanted_s) {
    return goal{.now_s = 10.0, .soon_s = 10.05, .wanted_s = wanted_s, .on_long_way = true, .anywhere = true, .share = 1};
  };
  struct row {
    goal wanted;
    std::vector<option> offered;
    place_id expected;
    bool replaceable;
    const char* why;
  };
  for (const row& r : {
           row{here, {one, two, four}, 1, false, "around one core: time x width"},
           row{here, {four, two, one}, 1, false, "in any order"},
           row{here, {one, {.where = 6, .width = 4, .time_s = 0.25, .begin_s = 10.0}}, 1, false, "of equal cost the first"},
           row{all, {four, {.where = 6, .width = 1, .time_s = 0.4, .begin_s = 10.0}}, 4, true, "of those that end together the first"},
           row{half, {one, two, four}, 2, true, "the first to end of those within its share"},
           row{half, {four, two, one}, 4, true, "if the first is beyond its share only what is sooner replaces it"},
           row{all, {one, two, four}, 4, true, "a share of four"},
           row{all, {four, waits}, 4, true, "what begins later ends later"},
           row{all, {{.where = 7, .width = 1, .time_s = 0.1, .begin_s = 10.2}}, 7, false, "what begins later stays what it is"},
           row{long_way(0.7), {one, two, four}, 2, false, "on the long way the cheapest that is fast enough"},
           row{long_way(0.5), {one, two, four}, 4, false, "that may be a wide one"},
           row{long_way(1.0), {four, two, one}, 1, false, "or one core"},
           row{long_way(1.5), {one, {.where = 6, .width = 4, .time_s = 0.25, .begin_s = 10.0}}, 1, false, "of equal cost the first there too"},
           row{long_way(0.5), {waits, one, two}, 5, false, "the wait counts: .2 and .3"},
           row{long_way(0.1), {one, two, four}, 4, true, "if none is fast enough the first to end, whatever its share"},
           row{all, {}, no_place, false, "nothing is offered"},
       }) {
    place_search search(r.wanted);
    for (const option& o : r.offered) search.offer(o);
    EXPECT_EQ(search.found() ? search.found()->where : no_place, r.expected) << r.why;
    EXPECT_EQ(search.replaceable(), r.replaceable) << r.why;
  }
}

TEST(auto_choice, what_may_stand_in_for_the_place_that_was_found) {
  struct row {
    bool on_long_way;
    std::uint32_t width;
    double begin_s;
    bool expected;
    const char* why;
  };
  for (const row& r : {
           row{false, 2, 0.0, true, "within the share"},
           row{false, 3, 0.0, false, "beyond it"},
           row{true, 3, 0.0, true, "beyond it on the long way"},
           row{false, 2, 0.05, true, "soon"},
           row{false, 2, 0.06, false, "not soon"},
       }) {
    const place_search search({.soon_s = 0.05, .on_long_way = r.on_long_way, .anywhere = true, .share = 2});
    EXPECT_EQ(search.may_replace({.where = 1, .width = r.width, .time_s = 9.0, .begin_s = r.begin_s}), r.expected) << r.why;
  }
}

// ---- the others, taking and declining ----------------------------------------------------------------------------------------------

TEST(auto_choice, what_other_cores_end_sooner) {
  struct core {
    double free_s, first_s, mean_s;
  };
  struct row {
    double end_s;
    std::vector<core> cores;
    std::uint32_t sooner, idle;
    double first_free_s;
    const char* why;
  };
  // At 10 s. A task that ends here at 14 must end elsewhere before 13.8 to be sooner.
  for (const row& r : {
           row{14.0, {{10.0, 4.0, 4.0}}, 0, 0, 0.0, "an equal core is not sooner"},
           row{14.0, {{10.0, 3.9, 3.9}}, 0, 0, 0.0, "nor one within the margin"},
           row{14.0, {{10.0, 3.7, 3.7}}, 1, 1, 10.0, "beyond the margin it is"},
           row{14.0, {{10.0, 1.0, 1.0}}, 3, 1, 10.0, "one after the other: at 11, 12 and 13"},
           row{14.0, {{11.0, 1.0, 1.0}}, 2, 0, 11.0, "free later: two, and it is not idle"},
           row{14.0, {{10.05, 1.0, 1.0}}, 3, 1, 10.05, "free at once, or nearly"},
           row{14.0, {{10.09, 2.0, 1.0}}, 2, 1, 10.09, "a longer task: a twentieth of it is longer"},
           row{14.0, {{13.0, 1.0, 1.0}}, 0, 0, 0.0, "free too late"},
           row{14.0, {{10.0, 2.5, 1.0}}, 2, 1, 10.0, "a gap comes in the first task only"},
           row{14.0, {{12.0, 1.0, 1.0}, {11.0, 2.0, 2.0}}, 2, 0, 11.0, "of two the one that is free first"},
           row{14.0, {{10.0, 1.0, 1.0}, {12.0, 1.0, 1.0}, {10.0, 9.0, 9.0}}, 4, 1, 10.0, "they add up"},
           row{14.0, {}, 0, 0, 0.0, "nobody else"},
           row{14.0, {{10.0, 0.0, 0.0}}, 1000001, 1, 10.0, "who takes no time ends any number"},
       }) {
    others_builder rest(10.0, r.end_s);
    for (const core& c : r.cores) rest.add(c.free_s, c.first_s, c.mean_s);
    EXPECT_EQ(rest.all().sooner, r.sooner) << r.why;
    EXPECT_EQ(rest.all().idle, r.idle) << r.why;
    EXPECT_EQ(rest.all().first_free_s, r.first_free_s) << r.why;
  }
}

TEST(auto_choice, tasks_that_others_end_sooner_need_no_share_of_the_cores_that_are_left) {
  struct row {
    std::uint32_t idle, others_idle, sooner, tasks, expected;
    const char* why;
  };
  for (const row& r : {
           row{4, 0, 2, 4, 2, "two of four tasks go to others that are busy: two on four cores"},
           row{4, 2, 2, 4, 1, "to two of the free cores: two on two"},
           row{6, 2, 3, 4, 4, "one task is left for four cores"},
           row{6, 2, 9, 4, 4, "one is left at least"},
           row{1, 2, 1, 4, 1, "a core at least"},
       })
    EXPECT_EQ(share_beside({.idle = r.idle}, {.sooner = r.sooner, .idle = r.others_idle}, r.tasks), r.expected) << r.why;
}

TEST(auto_choice, what_delays_nothing_may_run_on_a_slow_core) {
  struct row {
    situation now;
    double first_way_s, end_s;
    bool expected;
    const char* why;
  };
  for (const row& r : {
           row{{.fastest_s = 1.0, .left_s = 10.0, .way_s = 1.0}, 0.0, 7.9, true, "nothing waits for it, and it ends before four fifths of the rest"},
           row{{.fastest_s = 1.0, .left_s = 10.0, .way_s = 1.0}, 0.0, 8.1, false, "it ends after that"},
           row{{.now_s = 5.0, .fastest_s = 1.0, .left_s = 10.0, .way_s = 1.0}, 0.0, 12.9, true, "counted from now"},
           row{{.fastest_s = 1.0, .left_s = 10.0, .way_s = 5.0}, 0.0, 3.9, true, "4 on its way come after it"},
           row{{.fastest_s = 1.0, .left_s = 10.0, .way_s = 5.0}, 0.0, 4.1, false, "too late for them"},
           row{{.fastest_s = 1.0, .left_s = 10.0, .way_s = 5.0, .quicker = 0.5}, 0.0, 5.9, true, "which wide places do in 2"},
           row{{.fastest_s = 1.0, .left_s = 10.0, .way_s = 1.0, .later_s = 4.0}, 0.0, 4.1, false, "much may wait for it beside its way"},
           row{{.fastest_s = 1.0, .left_s = 2.0, .way_s = 1.0}, 10.0, 7.9, true, "little is left, but the way of the first task is long"},
           row{{.fastest_s = 1.0, .left_s = 2.0, .way_s = 1.0, .quicker = 0.5}, 10.0, 4.1, false, "wide places make that shorter"},
           row{{.all_slowed = true, .fastest_s = 1.0, .left_s = 10.0, .way_s = 1.0}, 0.0, 1.0, false, "a quota is used up: to wait costs nothing"},
       })
    EXPECT_EQ(in_time(r.now, r.first_way_s, r.end_s), r.expected) << r.why;
}

TEST(auto_choice, a_task_that_nobody_came_for) {
  struct row {
    double declined_s, now_s, end_s;
    bool expected;
    const char* why;
  };
  for (const row& r : {
           row{-1.0, 1.0, 1.0, false, "it was never declined"},
           row{1.0, 1.0 + 2 * ms, 1.0 + 5 * ms, false, "for 2 ms, and would take 3"},
           row{1.0, 1.0 + 3 * ms, 1.0 + 6 * ms, false, "for 3 of 3: somebody may be on the way"},
           row{1.0, 1.0 + 3.08 * ms, 1.0 + 6.08 * ms, false, "80 us longer"},
           row{1.0, 1.0 + 3.12 * ms, 1.0 + 6.12 * ms, true, "120 us longer"},
       }) {
    queue_note note;
    note.enter_queue();
    if (r.declined_s >= 0.0) note.decline(r.declined_s);
    EXPECT_EQ(nobody_came(note, r.now_s, r.end_s), r.expected) << r.why;
  }
}

TEST(auto_choice, what_a_core_does_that_declines) {
  struct row {
    std::uint32_t sooner, waiting;
    double first_free_s;
    std::uint64_t skip;
    double until_s;
    const char* why;
  };
  // At 10 s.
  for (const row& r : {
           row{1, 3, 11.0, 1, 0.0, "it looks at the second"},
           row{3, 3, 11.0, 3, 0.0, "at the last"},
           row{4, 3, 11.0, resting, 11.0, "all will be ended sooner: it rests until one of those is free"},
           row{1, 0, 10.0, resting, 10.0 + 20 * us, "one is free now and will come: 20 us at least"},
           row{1, 0, 9.0, resting, 10.0 + 20 * us, "never into the past"},
       }) {
    const declined d = decline({.sooner = r.sooner, .first_free_s = r.first_free_s}, r.waiting, 10.0);
    EXPECT_EQ(d.skip, r.skip) << r.why;
    EXPECT_DOUBLE_EQ(d.until_s, r.until_s) << r.why;
  }
}

// ---- the quota account -------------------------------------------------------------------------------------------------------------

TEST(auto_quota, what_was_paid_for_and_not_spent) {
  struct row {
    double now_s, paid, spent_s, saved_s, lapsed_s;
    const char* why;
  };
  for (const row& r : {
           row{0.0, 2.0, 0.0, 0.0, 0.0, "at the beginning"},
           row{0.010, 2.0, 0.0, 0.020, 0.0, "two cores for 10 ms"},
           row{0.010, 2.0, 0.015, 0.005, 0.0, "15 of that are spent"},
           row{0.010, 2.0, 0.025, -0.005, 0.0, "more was spent than paid for"},
           row{1.0, 2.0, 1.95, 0.050, 0.0, "as much as lasts: 25 ms of each core"},
           row{1.0, 2.0, 1.9, 0.050, 0.050, "the rest lapses"},
           row{1.0, 0.5, 0.0, 0.0125, 0.4875, "half a core"},
           row{1.0, 0.0, 0.0, 0.0, 0.0, "nothing is paid for"},
       }) {
    const savings s = savings_at(r.now_s, r.paid, r.spent_s);
    EXPECT_NEAR(s.saved_s, r.saved_s, 1e-12) << r.why;
    EXPECT_NEAR(s.lapsed_s, r.lapsed_s, 1e-12) << r.why;
  }
  EXPECT_DOUBLE_EQ(charge_s(1 * ms, 1), 1.05 * ms) << "a prediction may be wrong by a twentieth";
  EXPECT_DOUBLE_EQ(charge_s(1 * ms, 4), 4.2 * ms) << "on four cores at once";
}

TEST(auto_quota, faster_cores_and_those_at_work_may_use_it_up) {
  struct core {
    double cpu_s;
    bool idle;
    double free_s;
  };
  struct row {
    double paid;
    std::vector<core> cores;
    std::optional<double> until_s;
    const char* why;
  };
  // This core takes 3 ms of CPU time.
  for (const row& r : {
           row{2.0, {{1 * ms, true, 5.0}, {1 * ms, true, 4.0}}, 4.0, "two faster ones use up two: until the first is free"},
           row{2.5, {{1 * ms, true, 5.0}, {1 * ms, true, 4.0}}, std::nullopt, "half a core is left"},
           row{2.0, {{1 * ms, true, 5.0}, {3 * ms, true, 4.0}}, std::nullopt, "an equal core that rests uses up nothing"},
           row{2.0, {{1 * ms, true, 5.0}, {3 * ms, false, 4.0}}, 5.0, "at work it does, but is not waited for"},
           row{2.0, {{1 * ms, true, 5.0}, {2.9 * ms, true, 4.0}}, std::nullopt, "within the margin it is equal"},
           row{2.0, {{1 * ms, true, 5.0}, {2.8 * ms, true, 4.0}}, 4.0, "beyond it is faster"},
           row{1.0, {{3 * ms, false, 4.0}}, std::nullopt, "nobody is faster: this core is as good as any"},
           row{0.0, {}, std::nullopt, "nobody else"},
       }) {
    quota_claims claims(r.paid, 3 * ms);
    for (const core& c : r.cores) claims.add(c.cpu_s, c.idle, c.free_s);
    EXPECT_EQ(claims.used_up_until_s(), r.until_s) << r.why;
  }
}

}  // namespace
}  // namespace kilter::auto_parts
