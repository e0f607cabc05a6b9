// Where auto runs a task and what it leaves to others, as tables: numbers in, answer out.

#include <gtest/gtest.h>

#include <vector>

#include "policy/auto_choice.hpp"
#include "unit/support.hpp"

namespace kilter::auto_parts {
namespace {

using test::ms;
using test::us;

// ---- the place ----------------------------------------------------------------------------------

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
    EXPECT_EQ(share({.paid_known = r.paid_known, .all_slowed = r.all_slowed}, r.cores, r.tasks),
              r.expected)
        << r.why;
}

TEST(auto_choice, what_a_search_looks_for) {
  struct row {
    situation now;
    std::uint32_t share;
    bool on_long_way, anywhere;
    double wanted_s;
    const char* why;
  };
  const situation short_way{.fastest_s = 1 * ms, .left_s = 8 * ms, .way_s = 4 * ms},
      long_way{.fastest_s = 1 * ms, .left_s = 4 * ms, .way_s = 8 * ms};
  situation slowed = long_way, paid = long_way;
  slowed.all_slowed = paid.all_slowed = paid.paid_known = true;
  for (const row& r : {
           row{short_way, 1, false, false, 0.0,
               "no share but its own core: what is cheapest around it"},
           row{short_way, 2, false, true, 0.0, "a share of two: what ends first"},
           row{long_way, 1, true, true, 0.5 * ms,
               "on the long way: twice as fast as the fastest core"},
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
           row{{9.6},
               true,
               2,
               10.4,
               true,
               "overdue by .4: that guess was wrong once, so it counts twice"},
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
    EXPECT_EQ(
        start.worth_waiting_for({.now_s = 10.0, .on_long_way = r.on_long_way}, r.width, r.time_s),
        r.waits)
        << r.why;
  }
}

TEST(auto_choice, which_of_the_places_it_is) {
  // At 10 s.
  const option one{.where = 1, .width = 1, .time_s = 1.0, .begin_s = 10.0},
      two{.where = 2, .width = 2, .time_s = 0.6, .begin_s = 10.0},
      four{.where = 4, .width = 4, .time_s = 0.4, .begin_s = 10.0},
      waits{.where = 5, .width = 4, .time_s = 0.3, .begin_s = 10.2};
  const option unsure{.where = 7, .width = 1, .time_s = 1.0, .begin_s = 10.0, .unsure = true},
      a_little_later{.where = 1, .width = 1, .time_s = 1.04, .begin_s = 10.0},
      unsure_two{.where = 8, .width = 2, .time_s = 0.6, .begin_s = 10.0, .unsure = true};
  const goal here{.now_s = 10.0, .soon_s = 10.05, .share = 1},
      half{.now_s = 10.0, .soon_s = 10.05, .anywhere = true, .share = 2},
      all{.now_s = 10.0, .soon_s = 10.05, .anywhere = true, .share = 4};
  const auto long_way = [](double wanted_s) {
    return goal{.now_s = 10.0,
                .soon_s = 10.05,
                .wanted_s = wanted_s,
                .on_long_way = true,
                .anywhere = true,
                .share = 1};
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
           row{here,
               {one, {.where = 6, .width = 4, .time_s = 0.25, .begin_s = 10.0}},
               1,
               false,
               "of equal cost the first"},
           row{all,
               {four, {.where = 6, .width = 1, .time_s = 0.4, .begin_s = 10.0}},
               4,
               true,
               "of those that end together the first"},
           row{half, {one, two, four}, 2, true, "the first to end of those within its share"},
           row{half,
               {four, two, one},
               4,
               true,
               "if the first is beyond its share only what is sooner replaces it"},
           row{all, {one, two, four}, 4, true, "a share of four"},
           row{all, {four, waits}, 4, true, "what begins later ends later"},
           row{all,
               {{.where = 7, .width = 1, .time_s = 0.1, .begin_s = 10.2}},
               7,
               false,
               "what begins later stays what it is"},
           row{long_way(0.7),
               {one, two, four},
               2,
               false,
               "on the long way the cheapest that is fast enough"},
           row{long_way(0.5), {one, two, four}, 4, false, "that may be a wide one"},
           row{long_way(1.0), {four, two, one}, 1, false, "or one core"},
           row{long_way(1.5),
               {one, {.where = 6, .width = 4, .time_s = 0.25, .begin_s = 10.0}},
               1,
               false,
               "of equal cost the first there too"},
           row{long_way(0.5), {waits, one, two}, 5, false, "the wait counts: .2 and .3"},
           row{long_way(0.1),
               {one, two, four},
               4,
               true,
               "if none is fast enough the first to end, whatever its share"},
           row{all, {}, no_place, false, "nothing is offered"},
           row{all, {unsure, one}, 1, true, "as soon on cores that nobody slowed lately"},
           row{all, {one, unsure}, 1, true, "in any order"},
           row{all, {unsure, a_little_later}, 1, true, "or within what predictions are wrong by"},
           row{all, {unsure, two}, 2, true, "or sooner"},
           row{all, {one, unsure_two}, 8, true, "unless the other is much sooner"},
           row{all, {unsure_two, one}, 8, true, "in any order"},
           row{long_way(1.5), {unsure, one}, 1, false, "on the long way too"},
           row{here, {unsure_two, one}, 1, false, "and around one core"},
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
    const place_search search(
        {.soon_s = 0.05, .on_long_way = r.on_long_way, .anywhere = true, .share = 2});
    EXPECT_EQ(
        search.may_replace({.where = 1, .width = r.width, .time_s = 9.0, .begin_s = r.begin_s}),
        r.expected)
        << r.why;
  }
}

// ---- the others, taking and declining -----------------------------------------------------------

TEST(auto_choice, what_other_cores_end_sooner) {
  struct core {
    double free_s, first_s, mean_s;
    bool surer = false;
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
           row{14.0,
               {{10.09, 2.0, 1.0}},
               2,
               1,
               10.09,
               "a longer task: a twentieth of it is longer"},
           row{14.0, {{13.0, 1.0, 1.0}}, 0, 0, 0.0, "free too late"},
           row{14.0, {{10.0, 2.5, 1.0}}, 2, 1, 10.0, "a gap comes in the first task only"},
           row{14.0,
               {{12.0, 1.0, 1.0}, {11.0, 2.0, 2.0}},
               2,
               0,
               11.0,
               "of two the one that is free first"},
           row{14.0,
               {{10.0, 1.0, 1.0}, {12.0, 1.0, 1.0}, {10.0, 9.0, 9.0}},
               4,
               1,
               10.0,
               "they add up"},
           row{14.0,
               {{10.0, 4.0, 4.0, true}},
               1,
               1,
               10.0,
               "an equal core, and this one was slowed lately"},
           row{14.0,
               {{10.0, 4.3, 4.3, true}},
               0,
               0,
               0.0,
               "that one is slower by more than predictions are wrong by"},
           row{14.0,
               {{10.0, 4.0, 4.0, true}, {10.0, 1.0, 1.0, true}},
               4,
               2,
               10.0,
               "it counts for one task"},
           row{14.0, {}, 0, 0, 0.0, "nobody else"},
           row{14.0, {{10.0, 0.0, 0.0}}, 1000001, 1, 10.0, "who takes no time ends any number"},
       }) {
    others_builder rest(10.0, r.end_s);
    for (const core& c : r.cores) rest.add(c.free_s, c.first_s, c.mean_s, c.surer);
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
    EXPECT_EQ(share_beside({.idle = r.idle}, {.sooner = r.sooner, .idle = r.others_idle}, r.tasks),
              r.expected)
        << r.why;
}

TEST(auto_choice, what_delays_nothing_may_run_on_a_slow_core) {
  struct row {
    situation now;
    double first_way_s, end_s;
    bool expected;
    const char* why;
  };
  for (const row& r : {
           row{{.fastest_s = 1.0, .left_s = 10.0, .way_s = 1.0},
               0.0,
               7.9,
               true,
               "nothing waits for it, and it ends before four fifths of the rest"},
           row{{.fastest_s = 1.0, .left_s = 10.0, .way_s = 1.0},
               0.0,
               8.1,
               false,
               "it ends after that"},
           row{{.now_s = 5.0, .fastest_s = 1.0, .left_s = 10.0, .way_s = 1.0},
               0.0,
               12.9,
               true,
               "counted from now"},
           row{{.fastest_s = 1.0, .left_s = 10.0, .way_s = 5.0},
               0.0,
               3.9,
               true,
               "4 on its way come after it"},
           row{{.fastest_s = 1.0, .left_s = 10.0, .way_s = 5.0},
               0.0,
               4.1,
               false,
               "too late for them"},
           row{{.fastest_s = 1.0, .left_s = 10.0, .way_s = 5.0, .quicker = 0.5},
               0.0,
               5.9,
               true,
               "which wide places do in 2"},
           row{{.fastest_s = 1.0, .left_s = 10.0, .way_s = 1.0, .later_s = 4.0},
               0.0,
               4.1,
               false,
               "much may wait for it beside its way"},
           row{{.fastest_s = 1.0, .left_s = 2.0, .way_s = 1.0},
               10.0,
               7.9,
               true,
               "little is left, but the way of the first task is long"},
           row{{.fastest_s = 1.0, .left_s = 2.0, .way_s = 1.0, .quicker = 0.5},
               10.0,
               4.1,
               false,
               "wide places make that shorter"},
           row{{.all_slowed = true, .fastest_s = 1.0, .left_s = 10.0, .way_s = 1.0},
               0.0,
               1.0,
               false,
               "a quota is used up: to wait costs nothing"},
       })
    EXPECT_EQ(in_time(r.now, r.first_way_s, r.end_s), r.expected) << r.why;
}

TEST(auto_choice, cores_that_are_cut_help_where_a_round_is_saved) {
  struct row {
    const char* why;
    std::uint32_t tasks, sure, others;
    bool expected;
  };
  for (const row& r : {
           row{"the last task, which would need a round of its own", 1, 15, 1, true},
           row{"four of sixteen tasks, for each a core", 4, 12, 4, true},
           row{"one of the four cores is away: the round is there anyway", 4, 12, 3, false},
           row{"twenty of 32: two rounds of twelve, or one with four cores twice", 20, 12, 4, true},
           row{"three cores twice are not enough", 20, 12, 3, false},
           row{"full rounds are saved too", 24, 12, 6, true},
       })
    EXPECT_EQ(saves_a_round(r.tasks, r.sure, r.others), r.expected) << r.why;
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
           row{4, 3, 11.0, resting, 11.0,
               "all will be ended sooner: it rests until one of those is free"},
           row{1, 0, 10.0, resting, 10.0 + 20 * us,
               "one is free now and will come: 20 us at least"},
           row{1, 0, 9.0, resting, 10.0 + 20 * us, "never into the past"},
       }) {
    const declined d =
        decline({.sooner = r.sooner, .first_free_s = r.first_free_s}, r.waiting, 10.0);
    EXPECT_EQ(d.skip, r.skip) << r.why;
    EXPECT_DOUBLE_EQ(d.until_s, r.until_s) << r.why;
  }
}

}  // namespace
}  // namespace kilter::auto_parts
