// Parts of auto: tasks that wait for the core that has their data, or run there at once, and what
// auto makes of them; what it saves of a quota; what it keeps in the bytes of tasks and in cells.
// Numbers in, answer out.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "kilter/policies.hpp"
#include "policy/ask.hpp"
#include "policy/auto_marks.hpp"
#include "policy/auto_near.hpp"
#include "policy/auto_quota.hpp"
#include "unit/policy/world.hpp"

namespace kilter::auto_parts {
namespace {

// ---- near the data ------------------------------------------------------------------------------

using test::us;

TEST(auto_near, waits_where_it_is_worth_it) {
  EXPECT_FALSE(waits_near(100 * us, 100 * us, 0.0)) << "a type that computes is anybody's";
  EXPECT_FALSE(waits_near(100 * us, 100 * us, 4 * us));
  EXPECT_TRUE(waits_near(100 * us, 100 * us, 6 * us));
  EXPECT_TRUE(waits_near(200 * us, 100 * us, 150 * us)) << "slowed, and still the best";
  EXPECT_FALSE(waits_near(200 * us, 100 * us, 50 * us)) << "a slowed core keeps no more than that";
}

TEST(auto_near, others_take_it_once_it_waits_longer_than_they_lose) {
  struct row {
    kept_tasks kept;
    double from_s;
    const char* why;
  };
  for (const row& r : {
           row{{1, 10.0, 1.0, 2.0},
               12.0,
               "its core is free before: if it is overdue by what is lost"},
           row{{1, 13.0, 1.0, 2.0}, 10.0, "the core is busy for longer than that"},
           row{{4, 10.5, 1.0, 2.0}, 10.0, "the last of four waits for three others"},
           row{{2, 10.5, 1.0, 2.0}, 11.5, "the one before it counts"},
           row{{1, 8.0, 1.0, 3.0}, 11.0, "overdue by 2: as long again, and one more"},
           row{{1, 6.0, 1.0, 3.0}, 10.0, "overdue by 4"},
       })
    EXPECT_DOUBLE_EQ(taken_by_others_s(r.kept, 10.0), r.from_s) << r.why;
}

TEST(auto_near, at_once_only_where_it_pays_and_is_quick) {
  EXPECT_TRUE(pays_at_once(100 * us, 6 * us));
  EXPECT_FALSE(pays_at_once(100 * us, 4 * us));
  EXPECT_TRUE(is_quick_here(100 * us, 0.0, 100 * us));
  EXPECT_TRUE(is_quick_here(150 * us, 60 * us, 100 * us));
  EXPECT_FALSE(is_quick_here(200 * us, 60 * us, 100 * us)) << "a slowed core";
}

/// A type of 100 us, three times that far from its data, and a task whose data core 1 has.
struct known_far : test::world {
  std::shared_ptr<const policy> asked = make_policy("auto", m);
  char datum = 0;
  task writer, reader;
  known_far() : world(machine::uniform(4), table_options::robust()) {
    task_options o{.type = g.type("task")};
    writer = g.add(o, depend{.out = {&datum}}, [] {});
    reader = g.add(o, depend{.inout = {&datum}}, [] {});
    const model::row_id row = tables.row("task", 0);
    for (const task t : {writer, reader}) {
      detail::node* n = detail::task_access::get(t);
      detail::graph_of(n).kinds[n->kind].row = row;
      source.batch.push_back(detail::ref(n));
    }
    for (int i = 0; i < 40; ++i)
      for (const distance d : {distance::none, distance::cluster}) {
        measured sample;
        sample.sample_s = sample.leader_s = sample.span_s =
            d == distance::none ? 100 * us : 300 * us;
        sample.from_data = d;
        tables.learn(row, m.single(0), sample, source.now += 300 * us);
      }
    detail::data_now_at(detail::task_access::get(writer), 1);
  }
  ready_decision ready() {
    detail::asked_view v(m, &source, 0, nullptr);
    return ask::ready(*asked, ref(reader), ref(writer), 0, v);
  }
};

TEST(auto_near, a_task_waits_for_the_core_that_has_its_data) {
  known_far w;
  const queue_id shared = w.m.core_count();
  EXPECT_EQ(w.ready().queue, shared + 1 + 1);
  w.source.up[1] = false;
  EXPECT_EQ(w.ready().queue, shared) << "that core is not there";
}

TEST(auto_near, others_take_what_is_kept_when_it_pays) {
  known_far w;
  (void)w.ready();
  const queue_id of_1 = w.m.core_count() + 1 + 1;
  const auto next = [&](core_id c) {
    detail::asked_view v(w.m, &w.source, c, nullptr);
    return ask::next(*w.asked, c, 0, v);
  };
  w.source.kept[1] = 1;
  EXPECT_EQ(next(1).queue, of_1);
  EXPECT_EQ(next(0).what, next_decision::kind::hold_until) << "its core comes to it sooner";
  w.source.kept[1] = 4;
  const next_decision taken = next(0);
  EXPECT_EQ(taken.what, next_decision::kind::take_from);
  EXPECT_EQ(taken.queue, of_1);
  EXPECT_EQ(taken.skip, 3u) << "the one that would wait longest";
}

/// 256 chains of two tasks of 100 us at once and `later_us` later, and one of `way_tasks`.
struct chains : test::world {
  std::shared_ptr<const policy> asked = make_policy("auto", m);
  std::vector<task> first, second, way;
  explicit chains(double later_us, int way_tasks = 0)
      : world(machine::uniform(2), table_options::robust()) {
    for (int i = 0; i < 256; ++i) {
      first.push_back(add(false, one));
      second.push_back(add(false, one));
      g.edge(first.back(), second.back());
    }
    const model::row_id row = tables.row("task", 0);
    for (int i = 0; i < 40; ++i)
      for (const distance d : {distance::at_hand, distance::none}) {
        measured sample;
        sample.sample_s = sample.leader_s = sample.span_s =
            d == distance::none ? later_us * us : 100 * us;
        sample.from_data = d;
        for (core_id c = 0; c < 2; ++c)
          tables.learn(row, m.single(c), sample, source.now += 50 * us);
      }
    for (int i = 0; i < way_tasks; ++i) {
      way.push_back(add(false, one));
      if (i > 0) g.edge(way[way.size() - 2], way.back());
    }
    graph_of(detail::task_access::get(first[0])).keep_releases();
    submit(*asked);
  }
  /// How many of the second ones run at once on core 0, which ran the first ones.
  int at_once() {
    int count = 0;
    for (std::size_t i = 0; i < second.size(); ++i) {
      detail::released_by(detail::task_access::get(second[i]), 0);
      count += ready(*asked, second[i], first[i], 0).what == ready_decision::kind::run_next;
    }
    return count;
  }
  static constexpr std::array<std::uint32_t, 1> one{1};
};

TEST(auto_near, a_type_that_takes_more_later_runs_at_once) {
  EXPECT_GT(chains(200).at_once(), 192);
  EXPECT_LT(chains(200).at_once(), 256) << "some do the other thing";
}

TEST(auto_near, of_a_type_that_computes_one_in_eight_tries_it) {
  const int tries = chains(100).at_once();
  EXPECT_GT(tries, 16);
  EXPECT_LT(tries, 48);
}

TEST(auto_near, but_not_before_what_is_on_the_long_way) {
  chains w(200, 1600);
  (void)w.ready(*w.asked, w.way[0], {}, no_core);
  w.source.waiting = 1;
  EXPECT_EQ(w.at_once(), 0);
  w.source.waiting = 0;
  EXPECT_GT(w.at_once(), 192) << "nothing waits";
}

TEST(auto_near, nor_before_what_is_on_the_long_way_and_is_released_a_moment_later) {
  const auto at_once = [](int way_tasks) {
    chains w(200);
    std::vector<task> way{w.first.back()};
    for (int i = 0; i < way_tasks; ++i) {
      way.push_back(w.add(false, chains::one));
      w.g.edge(way[way.size() - 2], way.back());
    }
    w.submit(*w.asked);
    w.first.assign(w.first.size(), w.first.back());  // it released all of the second ones
    return w.at_once();
  };
  EXPECT_EQ(at_once(1600), 0);
  EXPECT_EQ(at_once(3), 1);
}

TEST(auto_near, what_was_released_with_the_long_way_waits_for_it) {
  EXPECT_TRUE(released_with_long_way(100 * us, 500 * us, 100 * us, 599 * us));
  EXPECT_FALSE(released_with_long_way(100 * us, 500 * us, 100 * us, 601 * us));
  EXPECT_FALSE(released_with_long_way(500 * us, 500 * us, 100 * us, 599 * us)) << "it is that way";
}

TEST(auto_near, of_two_successors_one_runs_at_once) {
  chains w(200);
  int at_once = 0;
  for (const task t : w.second) {
    detail::released_by(detail::task_access::get(t), 0);
    at_once += w.ready(*w.asked, t, w.first[0], 0).what == ready_decision::kind::run_next;
  }
  EXPECT_EQ(at_once, 1);
}

// ---- of a quota ---------------------------------------------------------------------------------

using test::ms;

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
           row{2.0,
               {{1 * ms, true, 5.0}, {1 * ms, true, 4.0}},
               4.0,
               "two faster ones use up two: until the first is free"},
           row{2.5,
               {{1 * ms, true, 5.0}, {1 * ms, true, 4.0}},
               std::nullopt,
               "half a core is left"},
           row{2.0,
               {{1 * ms, true, 5.0}, {3 * ms, true, 4.0}},
               std::nullopt,
               "an equal core that rests uses up nothing"},
           row{2.0,
               {{1 * ms, true, 5.0}, {3 * ms, false, 4.0}},
               5.0,
               "at work it does, but is not waited for"},
           row{2.0,
               {{1 * ms, true, 5.0}, {2.9 * ms, true, 4.0}},
               std::nullopt,
               "within the margin it is equal"},
           row{2.0, {{1 * ms, true, 5.0}, {2.8 * ms, true, 4.0}}, 4.0, "beyond it is faster"},
           row{1.0,
               {{3 * ms, false, 4.0}},
               std::nullopt,
               "nobody is faster: this core is as good as any"},
           row{0.0, {}, std::nullopt, "nobody else"},
       }) {
    quota_claims claims(r.paid, 3 * ms);
    for (const core& c : r.cores) claims.add(c.cpu_s, c.idle, c.free_s);
    EXPECT_EQ(claims.used_up_until_s(), r.until_s) << r.why;
  }
}

// ---- in the bytes of tasks and in cells ---------------------------------------------------------

TEST(auto_notes, a_task_keeps_its_three_times_and_its_note_apart) {
  const ranks::task_rank all{.own_s = 1.5F, .rank_s = 2.5F, .later_s = 3.5F, .note = 0xdeadbeef};
  EXPECT_EQ(ranks::task_rank::of(all.packed()), all);
  EXPECT_EQ(ranks::task_rank{}.packed(), task_state{});
  const std::vector<ranks::task_rank> one_each{
      {.own_s = 1.0F}, {.rank_s = 1.0F}, {.later_s = 1.0F}, {.note = ~0u}};
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
  std::vector<std::uint32_t> all{
      search::offline_cell, left_cell, rest_cell, rest_seen_cell, way_cell, spent_cell, came_cell};
  for (core_id c = 0; c < 5; ++c)
    for (const core_cell what :
         {core_cell::end, core_cell::skip, core_cell::rest, core_cell::came, core_cell::seen,
          core_cell::begun, core_cell::declined, core_cell::missed})
      all.push_back(cell_of(c, what));
  std::ranges::sort(all);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
  EXPECT_EQ(all.back() + 1, cells_for(5)) << "and no more are asked for than are used";
}

}  // namespace
}  // namespace kilter::auto_parts
