// The default policy as a table: what it sees, what it must answer.

#include <array>
#include <bit>

#include "policy/auto_marks.hpp"
#include "unit/policy/world.hpp"

namespace kilter {
namespace {

using test::world;
using kind = next_decision::kind;

/// Two fast cores that take 1 ms and four slow ones that take 3, one task at a time; all are free.
struct auto_board : world {
  static constexpr std::array<std::uint32_t, 1> one{1};
  explicit auto_board(std::span<const std::uint32_t> allowed = one)
      : world(test::two_kinds(2, 4), table_options::robust()), widths(allowed) {
    for (const place& p : m.places()) set(p, (p.leader < 2 ? 1e-3 : 3e-3) / p.width);
    for (core_id c = 0; c < 6; ++c) source.free[c] = true;
  }
  std::shared_ptr<const policy> asked = make_policy("auto", m);
  std::span<const std::uint32_t> widths;
  task add_long() { return add(false, widths); }
  /// As the engine would: into the queue, then out of it on `here`.
  take_decision offer(task t, core_id here, std::uint32_t waiting) {
    detail::asked_view v = at(here);
    if ((v.state(ref(t)).a & 1) == 0) (void)asked->on_ready(ref(t), {}, here, v);
    source.waiting = waiting;
    return asked->on_take(ref(t), here, false, v);
  }
  next_decision ask(core_id here, std::uint32_t waiting) {
    detail::asked_view v = at(here);
    source.waiting = waiting;
    return asked->next(here, 0, v);
  }
};

TEST(auto_policy, long_tasks_wait_by_what_is_left_after_them_short_ones_with_their_waker) {
  auto_board b;
  const task first = b.add_long(), second = b.add_long(), leaf = b.add_long(),
             quick = b.add(false, b.widths, "quick");
  b.g.edge(first, second);
  b.set_all(10e-6, "quick");
  b.submit(*b.asked);
  const ready_decision long_one = b.ready(*b.asked, first, {}, 0),
                       short_one = b.ready(*b.asked, quick, {}, 3);
  EXPECT_EQ(long_one.queue, 6u) << "the one after the deques";
  EXPECT_GT(long_one.key, b.ready(*b.asked, leaf, {}, 0).key);
  EXPECT_EQ(short_one.queue, 3u);
}

TEST(auto_policy, a_short_task_is_short_beside_a_neighbour_too) {
  auto_board b;
  (void)b.add_long();
  const task quick = b.add(false, b.widths, "quick");
  b.set_all(30e-6, "quick");
  b.submit(*b.asked);
  measured slow;
  slow.sample_s = slow.leader_s = slow.span_s = 60e-6;
  for (double now = 0.0; now < 0.3; now += slow.sample_s)
    b.tables.learn(b.tables.row("quick", 0), b.id({5, 1}), slow, now);
  ASSERT_GT(b.tables.time_s(b.tables.row("quick", 0), b.id({5, 1})), 45e-6);
  EXPECT_EQ(b.ready(*b.asked, quick, {}, 3).queue, 3u);
}

TEST(auto_policy, a_short_critical_task_stays_with_its_waker_while_its_place_is_about_to_be_cut) {
  auto_board b;
  const task before = b.add_long(), join = b.add(true, b.widths, "quick");
  b.g.edge(before, join);
  b.set_all(20e-6, "quick");
  b.set({0, 1}, 10e-6, "quick");
  b.submit(*b.asked);
  measured slow;
  slow.sample_s = slow.leader_s = slow.span_s = 15e-6;
  for (double now = 0.0; now < 0.046; now += slow.sample_s)
    b.tables.learn(b.tables.row("quick", 0), b.id({0, 1}), slow, now);
  for (int i = 0; i < 6; ++i) b.tables.gap(0, 0.008 * i, 0.008 * i + 0.004);
  b.source.now = 0.046;
  EXPECT_EQ(b.m.at(b.ready(*b.asked, join, before, 1).where), (place{0, 1}));
  b.source.now = 0.0481;
  EXPECT_EQ(b.m.at(b.ready(*b.asked, join, before, 1).where), (place{1, 1}))
      << "core 0 is away from now on";
  EXPECT_NE(b.m.at(b.ready(*b.asked, join, before, 0).where).leader, 0u)
      << "its waker is the core that goes away";
}

TEST(auto_policy,
     a_short_critical_task_stays_with_its_waker_if_its_place_was_slowed_lately_and_is_no_faster) {
  auto_board b;
  const task before = b.add_long(), join = b.add(true, b.widths, "quick");
  b.g.edge(before, join);
  b.set_all(20e-6, "quick");
  b.submit(*b.asked);
  measured slow;
  const auto run = [&](double sample_s) {
    slow.sample_s = slow.leader_s = slow.span_s = sample_s;
    for (int i = 0; i < 100; ++i)
      b.tables.learn(b.tables.row("task", 0), b.id({0, 1}), slow, b.source.now += sample_s);
  };
  for (const double sample_s : {1e-3, 5e-3, 1e-3}) run(sample_s);
  ASSERT_TRUE(b.at(1).slowed_lately(0));
  b.set({0, 1}, 19.5e-6, "quick");
  EXPECT_EQ(b.m.at(b.ready(*b.asked, join, before, 1).where), (place{1, 1}));
  b.set({0, 1}, 10e-6, "quick");
  EXPECT_EQ(b.m.at(b.ready(*b.asked, join, before, 1).where), (place{0, 1}))
      << "it is worth the risk";
}

TEST(auto_policy, a_short_critical_task_does_not_stand_behind_a_long_one) {
  auto_board b;
  const task busy = b.add_long(), before = b.add_long(), join = b.add(true, b.widths, "quick");
  b.g.edge(before, join);
  b.set_all(20e-6, "quick");
  b.set({0, 1}, 10e-6, "quick");
  b.submit(*b.asked);
  ASSERT_EQ(b.ready(*b.asked, join, before, 3).where, b.id({0, 1}))
      << "the cheapest place, which is free";
  ASSERT_FALSE(b.offer(busy, 0, 1).put_back);
  b.source.free[0] = false;
  EXPECT_EQ(b.ready(*b.asked, join, before, 3).where, b.id({3, 1}))
      << "its waker's core: the other is busy for a millisecond";
  b.source.now += 0.99e-3 + 6e-6;
  EXPECT_EQ(b.ready(*b.asked, join, before, 3).where, b.id({0, 1}))
      << "the other will be free in a moment";
}

/// A chain of short critical tasks, and others that anybody may run; short tasks are faster and
/// dearer on two cores.
struct short_board : auto_board {
  explicit short_board(int chain, int others) : auto_board(std::span<const std::uint32_t>()) {
    set_all(20e-6, "quick");
    set({0, 1}, 10e-6, "quick");
    set({0, 2}, 6e-6, "quick");
    for (int i = 0; i < chain; ++i) {
      way.push_back(add(true, widths, "quick"));
      if (i > 0) g.edge(way[way.size() - 2], way.back());
    }
    for (int i = 0; i < others; ++i) (void)add(false, widths, "quick");
    source.now = 1.0;
    submit(*asked);
  }
  place second() { return m.at(ready(*asked, way[1], way[0], 2).where); }
  std::vector<task> way;
};

TEST(auto_policy, a_core_that_others_slowed_lately_leaves_a_task_to_one_that_is_idle) {
  auto_board b;
  const task first = b.add_long(), second = b.add_long();
  b.g.edge(first, second);
  // so the way from `first` on takes as long as all that is left
  for (int i = 0; i < 5; ++i) (void)b.add_long();
  b.submit(*b.asked);
  measured slow;
  double now = 0.0;
  const auto run = [&](double sample_s, int times) {
    slow.sample_s = slow.leader_s = slow.span_s = sample_s;
    for (int i = 0; i < times; ++i)
      b.tables.learn(b.tables.row("task", 0), b.id({0, 1}), slow, now += sample_s);
  };
  run(0.97e-3, 20);
  run(5e-3, 20);
  run(0.97e-3, 400);
  b.source.now = now;
  ASSERT_LT(b.tables.slowdown(0), 1.05) << "the neighbour has gone, or so it seems";
  EXPECT_TRUE(b.at(0).slowed_lately(0));
  EXPECT_FALSE(b.at(0).slowed_lately(1));
  ASSERT_LT(b.at(0).time_s(b.ref(first), b.id({0, 1})), b.at(0).time_s(b.ref(first), b.id({1, 1})))
      << "it would be chosen";
  // With five more tasks that wait none may have more than one core, so it is core 0 or none.
  EXPECT_TRUE(b.offer(first, 0, 5).put_back) << "core 1 is idle";
  b.source.free[1] = false;
  EXPECT_FALSE(b.offer(second, 0, 5).put_back) << "core 1 is not";
  b.source.now += 11.0;
  b.source.free[1] = true;
  EXPECT_FALSE(b.at(0).slowed_lately(0)) << "long ago";
}

/// Three free cores of four are at a task each; others slowed the fourth, core 2, lately. A join
/// waits for six tasks.
struct joined_board : auto_board {
  explicit joined_board(double task_s) {
    for (const core_id c : {0u, 1u}) source.up[c] = false;
    set_all(task_s);
    for (int i = 0; i < 6; ++i) all.push_back(add_long());
    task last = add_long();
    for (const task before : all) g.edge(before, last);
    for (int i = 0; i < 50; ++i) {
      const task next = add_long();
      g.edge(last, next);
      last = next;
    }
    submit(*asked);
    measured slow;
    for (const double sample_s : {task_s, 5 * task_s, task_s}) {
      slow.sample_s = slow.leader_s = slow.span_s = sample_s;
      for (int i = 0; i < 40; ++i)
        tables.learn(tables.row("task", 0), id({2, 1}), slow, source.now += sample_s);
    }
    EXPECT_TRUE(at(2).slowed_lately(2));
    for (core_id c = 3; c < 6; ++c) {
      EXPECT_FALSE(offer(all[c], c, 6 - c).put_back);
      source.free[c] = false;
    }
  }
  std::vector<task> all;
};

TEST(auto_policy,
     a_core_that_others_slowed_lately_takes_what_a_join_waits_for_if_that_saves_a_round) {
  joined_board b(1e-3);
  EXPECT_TRUE(b.offer(b.all[0], 2, 1).put_back)
      << "the others do one of two in a round of their own, so both";
  EXPECT_EQ(b.ask(2, 2).what, kind::hold_until);
  EXPECT_FALSE(b.offer(b.all[1], 2, 0).put_back) << "without it the last one would take a round";
  joined_board longer(5e-3);
  EXPECT_FALSE(longer.offer(longer.all[0], 2, 1).put_back) << "a slice is no longer than the round";
}

TEST(auto_policy,
     a_short_critical_task_is_wide_on_free_cores_if_its_way_takes_longer_than_all_that_is_left) {
  EXPECT_EQ(short_board(20, 0).second(), (place{0, 2}));
  EXPECT_EQ(short_board(20, 20).second(), (place{0, 2}))
      << "the cores are worth more than two of the first";
  EXPECT_EQ(short_board(20, 200).second(), (place{0, 1}))
      << "cores that are free now have enough to do";
}

TEST(auto_policy, what_is_left_is_added_up_again_for_short_tasks_when_it_has_become_old) {
  short_board b(20, 200);
  const auto left_s = [&] { return std::bit_cast<double>(b.cells.load(auto_parts::rest_cell)); };
  (void)b.second();
  const double first = left_s();
  const double cores = 3.5;  // worth as many of the first; each call begins a task
  EXPECT_NEAR(first, 219 * 10e-6 / cores, 1e-9);
  b.cells.store(auto_parts::left_cell, b.cells.load(auto_parts::left_cell) / 2);
  b.source.now += 50e-6;
  (void)b.second();
  EXPECT_EQ(left_s(), first);
  b.source.now += 100e-6;
  (void)b.second();
  EXPECT_NEAR(left_s(), (110 - 3) * 10e-6 / cores, 1e-9);
}

/// The fast cores are at a task each.
struct busy_board : auto_board {
  explicit busy_board(int others, int tail) {
    for (int i = 0; i < others + 2; ++i) all.push_back(add_long());
    task last{};
    for (int i = 0; i < tail; ++i) {
      const task t = add_long();
      if (last)
        g.edge(last, t);
      else
        for (const task before : all) g.edge(before, t);
      last = t;
    }
    submit(*asked);
    for (core_id c = 0; c < 2; ++c) {
      EXPECT_EQ(m.at(offer(all[c], c, others + 1 - c).where), (place{c, 1}));
      source.free[c] = false;
    }
  }
  std::vector<task> all;
};

TEST(auto_policy, a_slow_core_leaves_the_last_task_to_a_fast_one_that_is_free) {
  auto_board b;
  const task t = b.add_long();
  b.submit(*b.asked);
  EXPECT_TRUE(b.offer(t, 2, 0).put_back)
      << "not sent there: several that look at once would choose the same core";
  EXPECT_EQ(b.m.at(b.offer(t, 1, 0).where), (place{1, 1}));
}

TEST(auto_policy, a_slow_core_leaves_what_the_fast_ones_end_sooner) {
  busy_board b(1, 0);
  EXPECT_TRUE(b.offer(b.all[2], 2, 0).put_back) << "begun at 1 ms on core 0 it ends at 2";
  const next_decision next = b.ask(2, 1);
  EXPECT_EQ(next.what, kind::hold_until);
  EXPECT_NEAR(next.until_s, 1e-3, 1e-4) << "when the first of them is free";
}

TEST(
    auto_policy,
    a_core_that_rests_looks_again_when_its_time_has_come_or_a_task_comes_not_when_another_puts_one_back) {
  busy_board b(2, 0);
  EXPECT_TRUE(b.offer(b.all[2], 2, 0).put_back);
  for (int woken = 0; woken < 3; ++woken)
    EXPECT_EQ(b.ask(2, 1).what, kind::hold_until) << "core 3 has put it back";
  b.source.now = 0.9e-3;
  EXPECT_EQ(b.ask(2, 1).what, kind::hold_until);
  b.source.now = 1.1e-3;
  EXPECT_EQ(b.ask(2, 1).what, kind::take_from);
  EXPECT_TRUE(b.offer(b.all[2], 2, 0).put_back);
  EXPECT_EQ(b.ask(2, 1).what, kind::hold_until);
  (void)b.ready(*b.asked, b.all[3], {}, 0);
  EXPECT_EQ(b.ask(2, 2).what, kind::take_from);
  EXPECT_TRUE(b.offer(b.all[2], 2, 1).put_back);
  EXPECT_EQ(b.ask(2, 2).what, kind::hold_until);
  EXPECT_EQ(b.ask(2, 3).what, kind::take_from) << "one that was counted before it came";
}

TEST(auto_policy, before_a_barrier_a_slow_core_takes_the_one_after_those) {
  busy_board b(4, 50);
  EXPECT_TRUE(b.offer(b.all[2], 2, 3).put_back);
  const next_decision next = b.ask(2, 4);
  EXPECT_EQ(next.what, kind::take_from);
  EXPECT_EQ(next.skip, 2u) << "each fast core has ended another one by then";
  EXPECT_FALSE(b.offer(b.all[4], 2, 3).put_back);
}

TEST(auto_policy, what_nobody_waits_for_may_run_on_a_slow_core) {
  busy_board b(40, 0);
  EXPECT_FALSE(b.offer(b.all[2], 2, 39).put_back);
}

TEST(auto_policy, a_slow_core_takes_what_little_waits_for_though_much_else_is_left) {
  auto_board b;
  const std::array<task, 2> begun{b.add_long(), b.add_long()};
  const std::array<task, 3> longest{b.add_long(), b.add_long(), b.add_long()};
  b.g.edge(longest[0], longest[1]);
  b.g.edge(longest[1], longest[2]);
  const task one = b.add_long(), only = b.add_long();
  b.g.edge(one, only);
  for (int i = 0; i < 40; ++i) (void)b.add_long();
  b.submit(*b.asked);
  for (core_id c = 0; c < 2; ++c) {
    EXPECT_FALSE(b.offer(begun[c], c, 43 - c).put_back);
    b.source.free[c] = false;
  }
  EXPECT_FALSE(b.offer(one, 2, 41).put_back)
      << "the forty are as long as what waits for it, but do not wait for it";
}

TEST(auto_policy, a_task_that_nobody_comes_for_is_taken_after_all) {
  busy_board b(1, 0);
  EXPECT_TRUE(b.offer(b.all[2], 2, 0).put_back);
  EXPECT_EQ(b.ask(2, 1).what, kind::hold_until);
  b.source.now = 0.0015;
  EXPECT_TRUE(b.offer(b.all[2], 2, 0).put_back);
  EXPECT_EQ(b.ask(2, 1).what, kind::hold_until);
  b.source.now = 0.004;
  EXPECT_FALSE(b.offer(b.all[2], 2, 0).put_back);
}

/// A fast core, a slow one, and so many tasks that each gets one core.
struct two_cores : auto_board {
  two_cores() {
    for (const core_id c : {1u, 3u, 4u, 5u}) source.up[c] = false;
    for (int i = 0; i < 6; ++i) all.push_back(add_long());
    submit(*asked);
  }
  std::vector<task> all;
};

TEST(auto_policy, of_two_cores_that_would_each_leave_a_task_to_the_other_the_second_takes_it) {
  two_cores b;
  EXPECT_TRUE(b.offer(b.all[0], 2, 1).put_back) << "core 0 ends it sooner";
  b.set({0, 1}, 3e-3);
  b.set({2, 1}, 1e-3);
  EXPECT_FALSE(b.offer(b.all[0], 0, 1).put_back)
      << "core 2 would, as it seems now, but has left it to others";
  EXPECT_TRUE(b.offer(b.all[1], 0, 1).put_back) << "this is another task";
}

TEST(auto_policy, a_core_that_did_not_come_is_not_waited_for_again_until_it_takes_something) {
  two_cores b;
  b.source.now = 1.0;
  EXPECT_TRUE(b.offer(b.all[0], 2, 1).put_back);
  b.source.now = 1.004;
  EXPECT_FALSE(b.offer(b.all[0], 2, 1).put_back) << "nobody came";
  b.source.now = 1.007;
  EXPECT_FALSE(b.offer(b.all[1], 2, 1).put_back) << "core 0 is idle, but has not come for 7 ms";
  (void)b.ask(0, 1);
  EXPECT_FALSE(b.offer(b.all[2], 2, 1).put_back) << "it looks, and may lose its CPU again at once";
  EXPECT_FALSE(b.offer(b.all[3], 0, 1).put_back);
  EXPECT_TRUE(b.offer(b.all[4], 2, 1).put_back) << "it is there again";
}

TEST(auto_policy, a_quota_is_spent_on_the_fast_cores_when_they_use_it_up) {
  auto_board b;
  std::vector<task> all;
  for (int i = 0; i < 40; ++i) all.push_back(b.add_long());
  b.submit(*b.asked);
  b.source.paid = 2.0;
  EXPECT_TRUE(b.offer(all[0], 2, 39).put_back)
      << "a second there buys a third of what it buys on a fast core";
  EXPECT_EQ(b.ask(2, 40).what, kind::hold_until);
  EXPECT_FALSE(b.offer(all[0], 1, 39).put_back);
  b.source.paid = 2.5;
  EXPECT_FALSE(b.offer(all[1], 2, 38).put_back) << "the fast ones leave half a core's worth";
}

TEST(auto_policy, what_a_quota_paid_for_and_nobody_spent_may_be_spent_on_slow_cores_for_a_while) {
  auto_board b;
  std::vector<task> all;
  for (int i = 0; i < 80; ++i) all.push_back(b.add_long());
  b.submit(*b.asked);
  // As an engine does it: until the core takes one or rests.
  const auto takes = [&](task t, core_id here, std::uint32_t others) {
    while (b.ask(here, others + 1).what == kind::take_from)
      if (!b.offer(t, here, others).put_back) return true;
    return false;
  };
  b.source.paid = 2.0;
  b.source.now = 0.0014;
  EXPECT_FALSE(takes(all[0], 2, 79)) << "2.8 ms saved, and the task takes 3";
  b.source.now = 0.0016;
  EXPECT_TRUE(takes(all[0], 2, 79));
  EXPECT_FALSE(takes(all[1], 3, 78)) << "now it is spent";
  b.source.now = 1.0;
  std::uint32_t taken = 1;
  while (taken < 80 && takes(all[taken], 3, 79 - taken)) ++taken;
  EXPECT_EQ(taken - 1, 15u) << "50 ms at most, and a prediction is worth 5 %";
}

TEST(auto_policy, equal_cores_never_decline) {
  auto_board b;
  for (core_id c = 0; c < 6; ++c) b.set({c, 1}, 1e-3);
  std::vector<task> all;
  for (int i = 0; i < 6; ++i) all.push_back(b.add_long());
  b.submit(*b.asked);
  for (core_id c = 0; c < 6; ++c) {
    const take_decision d = b.offer(all[c], c, 5 - c);
    EXPECT_FALSE(d.put_back) << c;
    EXPECT_EQ(b.m.at(d.where), (place{c, 1}));
    b.source.free[c] = false;
  }
}

TEST(auto_policy, a_task_alone_gets_the_place_that_ends_it_first) {
  auto_board b{std::span<const std::uint32_t>{}};
  const task t = b.add_long();
  b.submit(*b.asked);
  EXPECT_EQ(b.m.at(b.offer(t, 3, 0).where), (place{0, 2}));
}

/// What a chain's first task gets while both fast cores are at a task that was to end at 1 ms; as
/// wide as it wants it takes .4 ms there, else .75.
place chain_begun_at(double now_s) {
  auto_board b{std::span<const std::uint32_t>{}};
  b.set({0, 2}, 0.4e-3);
  const std::array<std::uint32_t, 1> alone{1};
  const std::array<task, 2> begun{b.add(false, alone), b.add(false, alone)};
  std::vector<task> chain{b.add_long()};
  for (int i = 0; i < 20; ++i) {
    chain.push_back(b.add_long());
    b.g.edge(chain[chain.size() - 2], chain.back());
  }
  b.submit(*b.asked);
  for (core_id c = 0; c < 2; ++c) {
    EXPECT_EQ(b.m.at(b.offer(begun[c], c, 2 - c).where), (place{c, 1}));
    b.source.free[c] = false;
  }
  b.source.now = now_s;
  return b.m.at(b.offer(chain[0], 2, 0).where);
}

TEST(auto_policy, the_longest_way_waits_for_a_wide_place_but_less_for_one_that_is_overdue) {
  EXPECT_EQ(chain_begun_at(0.9e-3), (place{0, 2})) << "free in .1 ms";
  EXPECT_EQ(chain_begun_at(1.1e-3), (place{0, 2}))
      << "in .1 again, or in .2 since that was wrong once";
  EXPECT_EQ(chain_begun_at(1.25e-3), (place{2, 4})) << "in .25 or .5, and it would run .4 there";
}

TEST(auto_policy, what_the_fast_cores_end_sooner_needs_no_share_of_the_slow_ones) {
  auto_board b{std::span<const std::uint32_t>{}};
  const std::array<std::uint32_t, 1> alone{1};
  std::vector<task> all{b.add(false, alone), b.add(false, alone)};
  for (int i = 0; i < 4; ++i) all.push_back(b.add_long());
  b.submit(*b.asked);
  for (core_id c = 0; c < 2; ++c) {
    EXPECT_EQ(b.m.at(b.offer(all[c], c, 5 - c).where), (place{c, 1}));
    b.source.free[c] = false;
  }
  const take_decision taken = b.offer(all[2], 2, 3);
  EXPECT_FALSE(taken.put_back);
  EXPECT_EQ(b.m.at(taken.where).width, 2u) << "two of the four are done on the fast cores by the "
                                              "time that a slow one needs, so two share four cores";
}

TEST(auto_policy, among_many_a_task_gets_one_core) {
  auto_board b{std::span<const std::uint32_t>{}};
  std::vector<task> all;
  for (int i = 0; i < 40; ++i) all.push_back(b.add_long());
  b.submit(*b.asked);
  EXPECT_EQ(b.m.at(b.offer(all[0], 0, 39).where), (place{0, 1}));
}

}  // namespace
}  // namespace kilter
