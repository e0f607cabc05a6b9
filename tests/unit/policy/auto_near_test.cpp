// Tasks that wait for the core that has their data, or run there at once: numbers in, answer out,
// and what `auto` makes of them.

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "kilter/policies.hpp"
#include "policy/ask.hpp"
#include "policy/auto_near.hpp"
#include "unit/policy/units.hpp"
#include "unit/policy/world.hpp"

namespace kilter::auto_parts {
namespace {

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
struct known_far : testing::world {
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
struct chains : testing::world {
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

}  // namespace
}  // namespace kilter::auto_parts
