// Two ways of running a team: the one that brings more is used, and the other one is tried now and
// then.
#include <gtest/gtest.h>

#include "openmp/trial.hpp"

namespace kilter::regions {
namespace {

constexpr std::int64_t ms = 1'000'000;

/// A machine on which a way brings so much a millisecond, looked at every 2 ms.
struct two_ways {
  double first, second;
  trial t;
  double amount = 0.0;
  std::int64_t now = 0;

  two_ways(double a, double b, bool second_first = false)
      : first(a), second(b), t(30 * ms, 1.05, second_first) {
    t.begin(0, 0);
  }
  /// Which part of the time the second one was used.
  double run(std::int64_t for_ns) {
    std::int64_t with_second = 0;
    for (const std::int64_t end = now + for_ns; now < end; now += 2 * ms) {
      if (t.second()) with_second += 2 * ms;
      amount += 2.0 * (t.second() ? second : first);
      t.look(static_cast<std::int64_t>(amount), now + 2 * ms);
    }
    return static_cast<double>(with_second) / static_cast<double>(for_ns);
  }
};

TEST(trial, settles_on_the_way_that_brings_more_and_tries_the_other_for_a_small_part_of_the_time) {
  for (const bool second_first : {false, true}) {
    two_ways better(100, 150, second_first), worse(100, 50, second_first);
    better.run(100 * ms);
    worse.run(100 * ms);
    EXPECT_GT(better.run(5000 * ms), 0.95);
    EXPECT_LT(worse.run(5000 * ms), 0.05);
    EXPECT_GT(worse.run(5000 * ms), 0.0) << "it is never tried again";
  }
}

TEST(trial, the_second_must_be_clearly_better) {
  two_ways alike(100, 103);
  alike.run(100 * ms);
  EXPECT_LT(alike.run(5000 * ms), 0.05);
}

TEST(trial, follows_a_change) {
  two_ways w(100, 50);
  w.run(3000 * ms);
  w.second = 200;
  w.run(4000 * ms);
  EXPECT_GT(w.run(3000 * ms), 0.9);
}

/// A team of which so many events a millisecond come with all threads, and with one.
struct made_team {
  double all, one;
  choice_of_team c{};
  double events = 0.0;
  std::int64_t now = 0, folded = 0;
  bool alone = false;

  /// Which part of the time one thread ran it. `runs`: which part of the time any team does.
  double run(std::int64_t for_ns, double runs = 1.0) {
    std::int64_t with_one = 0;
    for (const std::int64_t end = now + for_ns; now < end; now += 2 * ms) {
      if (alone) with_one += 2 * ms;
      events += 2.0 * runs * (alone ? one : all);
      folded += static_cast<std::int64_t>(2.0 * runs * ms);
      c.look(alone, {folded, static_cast<std::uint32_t>(events),
                     static_cast<std::int64_t>(events * 1000)});
      alone = c.alone();
    }
    return static_cast<double>(with_one) / static_cast<double>(for_ns);
  }
};

TEST(choice_of_team, one_thread_where_members_come_further_with_it) {
  made_team quick_turns{1000, 1500};
  quick_turns.run(200 * ms);
  EXPECT_GT(quick_turns.run(3000 * ms), 0.9);
  made_team barriers{40, 25};
  barriers.run(200 * ms);
  EXPECT_LT(barriers.run(3000 * ms), 0.05);
}

TEST(choice_of_team, all_threads_where_members_seldom_wait) {
  made_team long_work{0.1, 0.05};
  EXPECT_LT(long_work.run(3000 * ms), 0.02);
  made_team others{1000, 1500};
  EXPECT_EQ(others.run(3000 * ms, 0.0), 0.0) << "no folded team runs";
}

TEST(choice_of_team, what_a_program_does_between_its_regions_changes_nothing) {
  made_team t{50, 80};
  t.run(2000 * ms, 0.2);
  EXPECT_GT(t.run(3000 * ms, 0.2), 0.9);
  EXPECT_EQ(t.run(100 * ms, 0.0), 1.0) << "nothing is known of it";
}

TEST(choice_of_team, an_event_counts_as_what_it_usually_takes) {
  choice_of_team c;
  folded_work done;
  bool alone = false;
  int with_one = 0;
  // regions with events of 10 us for 40 ms, then with some of 100 us, and so on; one thread is
  // never better
  for (int n = 0; n < 2000; ++n) {
    const std::int64_t usual_ns = n / 20 % 2 ? 100'000 : 10'000;
    const auto came = static_cast<std::uint32_t>(2 * ms / usual_ns * (alone ? 9 : 10) / 10);
    done = {done.ns + 2 * ms, done.events + came, done.usual_ns + came * usual_ns};
    c.look(alone, done);
    alone = c.alone();
    with_one += alone;
  }
  EXPECT_LT(with_one, 150) << "but for trials";
}

TEST(choice_of_team, one_thread_also_where_members_wait_now_and_then) {
  made_team beside_others{1, 1.5};
  beside_others.run(300 * ms);
  EXPECT_GT(beside_others.run(3000 * ms), 0.9);
}

TEST(choice_of_team, leaves_one_thread_at_once_when_the_work_becomes_long) {
  made_team t{1000, 1500};
  t.run(500 * ms);
  t.all = 0.1;
  t.one = 0.02;
  t.run(2 * ms);
  EXPECT_LT(t.run(1000 * ms), 0.02);
}

// On many CPUs one thread alone may be so slow that less comes than would make anybody try it.
TEST(choice_of_team, one_thread_that_is_far_too_slow_is_found_out) {
  made_team many_cpus{20, 1};
  many_cpus.run(500 * ms);
  EXPECT_LT(many_cpus.run(5000 * ms), 0.08);
}

/// A region whose executions take so long in each way; how often it was executed in the second one
/// until `end_ns`, and what all of that took more than in the better way.
struct executed {
  std::int64_t now_ns = 0, lost_ns = 0, in_second = 0, times = 0;
  choice_of_way way;
  void run(std::int64_t first_ns, std::int64_t second_ns, std::int64_t end_ns,
           std::uint32_t machine = 0) {
    for (; now_ns < end_ns; ++times) {
      const bool timed = way.measures(machine, now_ns), second = way.second();
      const std::int64_t took_ns = second ? second_ns : first_ns;
      now_ns += took_ns;
      lost_ns += took_ns - std::min(first_ns, second_ns);
      in_second += second;
      if (timed) way.ran(took_ns, now_ns);
    }
  }
};

TEST(choice_of_way, no_region_loses_a_thirtieth_of_a_second_to_the_way_that_is_slower_for_it) {
  for (const std::int64_t base_ns : {10'000, 300'000, 10'000'000})
    for (const double worse : {1.1, 2.0, 8.0})
      for (const bool second_is_worse : {false, true}) {
        executed e;
        const auto worse_ns = static_cast<std::int64_t>(worse * static_cast<double>(base_ns));
        e.run(second_is_worse ? base_ns : worse_ns, second_is_worse ? worse_ns : base_ns,
              1'000'000'000);
        // The way that is tried first is tried until it is known: for 20 ms and two executions. The
        // other one is given up as soon as it is hopeless.
        const std::int64_t most = std::max<std::int64_t>(30'000'000, 3 * worse_ns);
        EXPECT_LE(e.lost_ns, most)
            << base_ns << " ns, " << worse << (second_is_worse ? ", second" : ", first");
      }
}

TEST(choice_of_way, stays_with_the_better_one_and_tries_the_other_more_and_more_seldom) {
  executed e;
  e.run(1'000'000, 1'500'000, 1'000'000'000);
  EXPECT_LT(e.in_second, 40);
  const std::int64_t before = e.lost_ns;
  e.run(1'000'000, 1'500'000, 60'000'000'000);
  EXPECT_LT(e.lost_ns - before, 7 * 20'000'000);
}

TEST(choice_of_way, follows_a_region_that_changes) {
  executed e;
  e.run(1'000'000, 1'500'000, 1'000'000'000);
  e.in_second = e.times = 0;
  e.run(1'500'000, 1'000'000, 9'000'000'000);
  EXPECT_GT(e.in_second, 6000);
}

TEST(choice_of_way, a_long_execution_is_not_tried_where_nothing_is_known_of_how_long_it_may_take) {
  for (const bool risky : {false, true}) {
    choice_of_way way;
    for (std::int64_t now = 0; now < 3'000'000'000; now += 500'000'000)
      if (way.measures(0, now) && !way.second()) way.ran(500'000'000, now, risky);
    EXPECT_EQ(way.second(), !risky);
  }
}

TEST(choice_of_way, begins_anew_where_the_machine_has_changed) {
  executed e;
  e.run(1'000'000, 1'500'000, 2'000'000'000);
  EXPECT_FALSE(e.way.second());
  e.run(1'500'000, 1'000'000, 2'200'000'000, 1);
  EXPECT_TRUE(e.way.second());
}

}  // namespace
}  // namespace kilter::regions
