// The trace table of the papers. A search that remembers, and finds what looking at every cell
// would have found. A saved table: once restored it gives the same answers, and the same ones after
// the same further samples.

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "base/random.hpp"
#include "kilter/error.hpp"
#include "model/tables.hpp"
#include "unit/model/stream.hpp"
#include "unit/support.hpp"

namespace kilter {
namespace {

// ---- the papers' table --------------------------------------------------------------------------

using test::sample;

TEST(paper_table, unexplored_reads_zero_and_the_first_sample_replaces) {
  const machine m = machine::uniform(4);
  model::tables t(m, table_options::paper());
  const auto r = t.row("matmul", 0);
  for (place_id p = 0; p < m.places().size(); ++p) EXPECT_EQ(t.time_s(r, p), 0.0);
  t.learn(r, 2, sample(3.5), 1.0);
  EXPECT_EQ(t.time_s(r, 2), 3.5);
  for (place_id p = 0; p < m.places().size(); ++p)
    if (p != 2) {
      EXPECT_EQ(t.time_s(r, p), 0.0) << "a sample of one place must not touch another";
    }
}

// papers.md F: step from 1 to 2 gives 1.2, 1.36, 1.488, 1.5904, crossing the middle at the fourth
// sample.
TEST(paper_table, moving_average_follows_the_papers_numbers) {
  const machine m = machine::uniform(2);
  model::tables t(m, table_options::paper());
  const auto r = t.row("a", 0);
  t.learn(r, 0, sample(1.0), 0.0);
  for (const double expected : {1.2, 1.36, 1.488, 1.5904}) {
    t.learn(r, 0, sample(2.0), 0.0);
    EXPECT_NEAR(t.time_s(r, 0), expected, 1e-12);
  }
}

TEST(paper_table, sample_weight_one_keeps_no_memory) {
  const machine m = machine::uniform(2);
  auto o = table_options::paper();
  o.sample_weight = 1.0;
  model::tables t(m, o);
  const auto r = t.row("a", 0);
  t.learn(r, 0, sample(1.0), 0.0);
  t.learn(r, 0, sample(7.0), 0.0);
  EXPECT_EQ(t.time_s(r, 0), 7.0);
  o.sample_weight = 0.0;
  EXPECT_THROW(model::tables(m, o), input_error);
}

TEST(paper_table, every_place_and_row_has_its_own_cell) {
  const machine m = machine::from_platform("jetson-tx2");
  ASSERT_EQ(m.places().size(), 10u);
  model::tables t(m, table_options::paper());
  const auto a = t.row("a", 0), a1 = t.row("a", 1), b = t.row("b", 0);
  for (place_id p = 0; p < 10; ++p) {
    t.learn(a, p, sample(1.0 + p), 0.0);
    t.learn(a1, p, sample(101.0 + p), 0.0);
    t.learn(b, p, sample(201.0 + p), 0.0);
  }
  for (place_id p = 0; p < 10; ++p) {
    EXPECT_EQ(t.time_s(a, p), 1.0 + p);
    EXPECT_EQ(t.time_s(a1, p), 101.0 + p);
    EXPECT_EQ(t.time_s(b, p), 201.0 + p);
  }
}

TEST(paper_table, no_robust_part_is_on) {
  const machine m = machine::uniform(4);
  model::tables t(m, table_options::paper());
  const auto r = t.row("a", 0);
  t.set_landing(3);
  for (int i = 0; i < 100; ++i) t.learn(r, m.single(0), sample(1.0), i * 1.0);
  t.learn(r, m.single(1), sample(0.01), 101.0);
  EXPECT_EQ(t.slowdown(0), 1.0);
  EXPECT_EQ(t.home(102.0), 0u);
  for (place_id p = 0; p < m.places().size(); ++p)
    EXPECT_EQ(t.settle(r, p, objective::cost, 103.0 + p), p);
  EXPECT_EQ(t.probing_s(), 0.0);
}

TEST(paper_table, visits_of_unexplored_places_are_counted) {
  const machine m = machine::uniform(2);
  model::tables t(m, table_options::paper());
  const auto r = t.row("a", 0);
  t.preset(r, 0, 1.0);
  (void)t.settle(r, 0, objective::cost, 0.0);
  EXPECT_EQ(t.explored(), 0u);
  (void)t.settle(r, 1, objective::cost, 0.0);
  EXPECT_EQ(t.explored(), 1u);
}

TEST(paper_table, preset_counts_as_one_sample) {
  const machine m = machine::uniform(2);
  model::tables t(m, table_options::paper());
  const auto r = t.row("a", 0);
  t.preset(r, 1, 1.0);
  EXPECT_EQ(t.time_s(r, 1), 1.0);
  t.learn(r, 1, sample(2.0), 0.0);
  EXPECT_NEAR(t.time_s(r, 1), 1.2, 1e-12);
}

TEST(paper_table, rows_are_found_again_and_survive_clear) {
  const machine m = machine::uniform(2);
  model::tables t(m, table_options::paper());
  const auto a = t.row("a", 7);
  EXPECT_NE(t.row("a", 8), a);
  EXPECT_EQ(t.row("a", 7), a);
  EXPECT_EQ(t.row_name(a), "a");
  t.learn(a, 0, sample(1.0), 0.0);
  ASSERT_EQ(t.snapshot().size(), 1u);
  t.clear();
  EXPECT_EQ(t.time_s(a, 0), 0.0);
  EXPECT_EQ(t.row_count(), 2u);
  EXPECT_TRUE(t.snapshot().empty());
  t.learn(a, 0, sample(5.0), 0.0);
  EXPECT_EQ(t.time_s(a, 0), 5.0) << "after clear the first sample replaces again";
}

TEST(paper_table, too_many_rows_are_refused_with_the_name) {
  const machine m = machine::uniform(1);
  model::tables t(m, table_options::paper());
  for (std::uint32_t i = 0; i < model::tables::max_rows; ++i) EXPECT_EQ(t.row("x", i), i);
  test::expect_names(test::refusal([&] { (void)t.row("straw", 0); }), {"straw"});
  EXPECT_EQ(t.row("x", 17), 17u);
}

TEST(paper_table, same_name_from_many_threads_is_one_row) {
  const machine m = machine::uniform(2);
  model::tables t(m, table_options::paper());
  std::vector<std::vector<model::row_id>> seen(4);
  std::vector<std::thread> threads;
  for (auto& mine : seen)
    threads.emplace_back([&t, &mine] {
      for (std::uint32_t i = 0; i < 200; ++i) mine.push_back(t.row("type", i));
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(t.row_count(), 200u);
  for (const auto& mine : seen) EXPECT_EQ(mine, seen[0]);
}

// ---- the best place -----------------------------------------------------------------------------

place_id by_looking(const model::tables& t, const machine& m, model::row_id r, objective goal,
                    auto&& accept) {
  place_id best = no_place;
  std::tuple<double, std::uint32_t, core_id> least{};
  for (const place_id p : m.scan_order()) {
    const place& where = m.at(p);
    if (!accept(where)) continue;
    const double time_s = t.time_s(r, p);
    if (t.options().explore_first && time_s == 0.0) return p;
    const std::tuple value{goal == objective::cost ? time_s * where.width : time_s, where.width,
                           where.leader};
    if (best == no_place || value < least) {
      best = p;
      least = value;
    }
  }
  return best;
}

struct two_and_four {
  const machine* m;
  static bool test(const void* self, place_id p) noexcept {
    const auto width = static_cast<const two_and_four*>(self)->m->at(p).width;
    return width == 2 || width == 4;
  }
};

void compare_after_every_change(const machine& m, const table_options& o, std::uint64_t seed) {
  model::tables t(m, o);
  random_stream random(seed, "best");
  const std::vector<model::row_id> rows{t.row("a", 0), t.row("b", 0), t.row("b", 1)};
  const two_and_four some{&m};
  double now_s = 0.0;
  const auto check = [&](int step) {
    for (const auto r : rows)
      for (const auto goal : {objective::cost, objective::time}) {
        // Twice: the second answer is the remembered one.
        for (int again = 0; again < 2; ++again) {
          ASSERT_EQ(t.best(r, goal, model::widths::all),
                    by_looking(t, m, r, goal, [](const place&) { return true; }))
              << step;
          ASSERT_EQ(t.best(r, goal, model::widths::one),
                    by_looking(t, m, r, goal, [](const place& p) { return p.width == 1; }))
              << step;
        }
        ASSERT_EQ(
            t.best(r, goal, model::allowed{two_and_four::test, &some}),
            by_looking(t, m, r, goal, [](const place& p) { return p.width == 2 || p.width == 4; }))
            << step;
      }
  };
  ASSERT_NO_FATAL_FAILURE(check(-1));
  for (int step = 0; step < 3000; ++step) {
    const auto p = random.below(static_cast<std::uint32_t>(m.places().size()));
    const auto r = rows[random.below(3)];
    switch (random.below(200)) {
      case 0: t.preset(r, p, 1e-6 * (1 + random.below(50))); break;
      case 1: t.clear(); break;
      case 2: now_s += 0.3; break;  // idle cores drift at the next sample
      default: {
        // Whole microseconds, so that equal values and their ties occur.
        const double seconds =
            1e-6 * (10 + random.below(5)) * (random.below(40) == 0 ? 300 : 1) / m.at(p).width;
        t.learn(r, p, sample(seconds), now_s += seconds);
      }
    }
    ASSERT_NO_FATAL_FAILURE(check(step));
  }
}

TEST(best_place, is_what_looking_at_every_cell_finds) {
  auto not_exploring = table_options::paper();
  not_exploring.explore_first = false;
  auto exploring = table_options::robust();
  exploring.explore_first = true;
  exploring.neutral_prior = false;
  const std::vector<table_options> modes{table_options::paper(), not_exploring,
                                         table_options::robust(), exploring};
  const std::vector<machine> machines{machine::from_platform("jetson-tx2"), machine::uniform(9),
                                      machine::uniform(8, 4), machine::uniform(1)};
  for (std::size_t i = 0; i < machines.size(); ++i)
    for (std::size_t k = 0; k < modes.size(); ++k) {
      SCOPED_TRACE(machines[i].name() + ", options " + std::to_string(k));
      ASSERT_NO_FATAL_FAILURE(compare_after_every_change(machines[i], modes[k], 10 * i + k));
    }
}

TEST(best_place, is_none_if_no_place_is_admitted) {
  const machine m = machine::uniform(1);
  const two_and_four some{&m};
  model::tables t(m, table_options::robust());
  EXPECT_EQ(t.best(t.row("a", 0), objective::cost, model::allowed{two_and_four::test, &some}),
            no_place);
}

// ---- saved and restored -------------------------------------------------------------------------

void feed(model::tables& t, const machine& m, random_stream& random, int samples, double& now_s) {
  for (int i = 0; i < samples; ++i) {
    const model::row_id row = t.row("body", random.below(2));
    const auto p =
        static_cast<place_id>(random.below(static_cast<std::uint32_t>(m.places().size() / 2)));
    const double seconds = (1.0 + random.uniform()) * 1e-3 / m.at(p).width * (p % 3 + 1);
    t.learn(row, p, sample(seconds), now_s += 1e-3);
    const place_id best = t.best(row, objective::cost, model::widths::all);
    (void)t.settle(row, best, objective::cost, now_s);
  }
}

table_options prior() {
  table_options o = table_options::paper();
  o.explore_first = false;
  o.neutral_prior = true;
  return o;
}

TEST(saved_table, gives_the_same_times_and_the_same_choices) {
  const machine m = machine::from_platform("jetson-tx2");
  for (const table_options& o : {table_options::paper(), prior(), table_options::robust()}) {
    model::tables before(m, o), after(m, o);
    random_stream random(1, "saved", 0);
    double now_s = 0.0;
    feed(before, m, random, 200, now_s);
    after.restore(before.save());
    ASSERT_EQ(after.row_count(), before.row_count());
    for (std::uint32_t size = 0; size < 2; ++size) {
      const model::row_id from = before.row("body", size), to = after.row("body", size);
      // Guesses follow the samples now and then only; what they rest on is compared.
      const std::size_t compared = o.neutral_prior ? m.places().size() / 2 : m.places().size();
      for (place_id p = 0; p < compared; ++p) {
        // What the cores were worth at that moment is not part of it.
        double slow = 1.0;
        if (m.at(p).width == 1) slow = before.slowdown(m.at(p).leader);
        if (o.two_factors && m.at(p).width > 1) continue;
        // What searches read in robust mode follows what is known in steps of 1/64.
        EXPECT_NEAR(after.time_s(to, p), before.time_s(from, p) / slow,
                    (o.two_factors ? 1.0 / 32 : 1e-12) * before.time_s(from, p))
            << "place " << p;
      }
      if (o.neutral_prior) continue;
      for (const objective goal : {objective::cost, objective::time})
        EXPECT_EQ(after.best(to, goal, model::widths::all),
                  before.best(from, goal, model::widths::all));
    }
    const auto again = after.save(), first = before.save();
    ASSERT_EQ(again.rows.size(), first.rows.size());
    for (std::size_t r = 0; r < first.rows.size(); ++r) {
      ASSERT_EQ(again.rows[r].cells.size(), first.rows[r].cells.size());
      EXPECT_EQ(again.rows[r].in_use, first.rows[r].in_use);
      for (std::size_t c = 0; c < first.rows[r].cells.size(); ++c) {
        EXPECT_EQ(again.rows[r].cells[c].samples, first.rows[r].cells[c].samples);
        EXPECT_EQ(again.rows[r].cells[c].seconds, first.rows[r].cells[c].seconds);
        EXPECT_EQ(again.rows[r].cells[c].recent, first.rows[r].cells[c].recent);
      }
    }
  }
}

TEST(saved_table, the_papers_average_goes_on_where_it_was) {
  const machine m = machine::uniform(2);
  model::tables before(m, table_options::paper()), after(m, table_options::paper());
  before.learn(before.row("body", 0), 0, sample(2e-3), 1.0);
  after.restore(before.save());
  after.learn(after.row("body", 0), 0, sample(1e-3), 2.0);
  EXPECT_DOUBLE_EQ(after.time_s(after.row("body", 0), 0), (4 * 2e-3 + 1e-3) / 5);
}

TEST(saved_table, what_was_known_before_is_forgotten) {
  const machine m = machine::uniform(2);
  model::tables empty(m, table_options::paper()), t(m, table_options::paper());
  t.preset(t.row("body", 0), 0, 1.0);
  t.restore(empty.save());
  EXPECT_EQ(t.time_s(t.row("body", 0), 0), 0.0);
}

TEST(saved_table, the_other_mode_and_places_of_another_machine_are_refused_and_change_nothing) {
  const machine m = machine::uniform(2);
  model::tables paper(m, table_options::paper()), robust(m, table_options::robust()),
      larger(machine::uniform(8), table_options::paper());
  paper.preset(paper.row("body", 0), 0, 1.0);
  larger.preset(larger.row("body", 0), *machine::uniform(8).find({0, 8}), 3.0);
  EXPECT_THROW(robust.restore(paper.save()), input_error);
  EXPECT_THROW(paper.restore(larger.save()), input_error);
  EXPECT_EQ(paper.time_s(paper.row("body", 0), 0), 1.0);
}

}  // namespace
}  // namespace kilter
