// A saved table, restored: the same answers, and the same ones after the same further samples.
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "kilter/error.hpp"
#include "model/tables.hpp"

namespace kilter {
namespace {

void feed(model::tables& t, const machine& m, random_stream& random, int samples, double& now_s) {
  for (int i = 0; i < samples; ++i) {
    const model::row_id row = t.row("body", random.below(2));
    const auto p =
        static_cast<place_id>(random.below(static_cast<std::uint32_t>(m.places().size() / 2)));
    measured sample;
    sample.sample_s = sample.leader_s = sample.span_s =
        (1.0 + random.uniform()) * 1e-3 / m.at(p).width * (p % 3 + 1);
    t.learn(row, p, sample, now_s += 1e-3);
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
  measured sample;
  sample.sample_s = 2e-3;
  before.learn(before.row("body", 0), 0, sample, 1.0);
  after.restore(before.save());
  sample.sample_s = 1e-3;
  after.learn(after.row("body", 0), 0, sample, 2.0);
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
