// What a type takes more where its data are not.

#include <gtest/gtest.h>

#include "model/elsewhere.hpp"
#include "model/tables.hpp"

namespace kilter::model {
namespace {

TEST(elsewhere, is_nothing_until_both_are_known) {
  elsewhere e;
  EXPECT_EQ(e.extra(distance::cluster, 0.0), 0.0);
  for (int i = 0; i < 8; ++i) e.observe(distance::cluster, 3.0, 0.0);
  EXPECT_EQ(e.extra(distance::cluster, 0.0), 0.0) << "nobody ran near its data";
  for (int i = 0; i < 4; ++i) e.observe(distance::none, 1.0, 0.0);
  EXPECT_DOUBLE_EQ(e.extra(distance::cluster, 0.0), 2.0);
  EXPECT_EQ(e.extra(distance::beyond, 0.0), 0.0) << "each distance for itself";
  EXPECT_EQ(e.extra(distance::none, 0.0), 0.0);
  EXPECT_EQ(e.extra(distance::unknown, 0.0), 0.0);
}

TEST(elsewhere, is_counted_from_what_a_task_takes_at_once_while_that_is_seen) {
  elsewhere e;
  for (int i = 0; i < 4; ++i) {
    e.observe(distance::at_hand, 1.0, 0.0);
    e.observe(distance::none, 1.5, 0.0);
    e.observe(distance::cluster, 3.0, 0.0);
  }
  EXPECT_DOUBLE_EQ(e.extra(distance::none, 0.0), 0.5);
  EXPECT_DOUBLE_EQ(e.extra(distance::cluster, 0.0), 2.0);
  EXPECT_EQ(e.extra(distance::at_hand, 0.0), 0.0);
  for (int i = 0; i < 4; ++i) {
    e.observe(distance::none, 1.5, 3.0);
    e.observe(distance::cluster, 3.0, 3.0);
  }
  EXPECT_EQ(e.extra(distance::none, 3.0), 0.0);
  EXPECT_DOUBLE_EQ(e.extra(distance::cluster, 3.0), 1.0);
}

TEST(elsewhere, does_not_show_below_a_twentieth_and_not_by_gaps) {
  elsewhere e;
  for (int i = 0; i < 8; ++i) {
    e.observe(distance::none, 1.0, 0.0);
    e.observe(distance::cluster, i % 3 == 0 ? 40.0 : 1.04, 0.0);
  }
  EXPECT_EQ(e.extra(distance::cluster, 0.0), 0.0);
}

TEST(elsewhere, fades_when_it_is_not_seen_again) {
  elsewhere e;
  for (int i = 0; i < 4; ++i) {
    e.observe(distance::none, 1.0, 5.0);
    e.observe(distance::cluster, 2.0, 5.0);
  }
  EXPECT_DOUBLE_EQ(e.extra(distance::cluster, 6.0), 1.0);
  EXPECT_NEAR(e.extra(distance::cluster, 7.0), 0.37, 0.01);
  EXPECT_EQ(e.extra(distance::cluster, 12.0), 0.0);
}

// Three times as long on both cores, far from the data: the cores are not slowed, and the type's
// time stays what it is near them.
TEST(elsewhere, is_no_slowdown_and_no_longer_time) {
  const machine m = machine::uniform(2);
  tables t(m, table_options::robust());
  const row_id row = t.row("task", 0);
  double now_s = 0.0;
  const auto ran = [&](core_id c, distance d, double seconds) {
    now_s += seconds;
    measured sample;
    sample.sample_s = sample.leader_s = sample.span_s = seconds;
    sample.from_data = d;
    t.learn(row, m.single(c), sample, now_s);
  };
  for (int i = 0; i < 40; ++i)
    for (core_id c = 0; c < 2; ++c) ran(c, distance::none, 200e-6);
  for (int i = 0; i < 400; ++i)
    for (core_id c = 0; c < 2; ++c) ran(c, distance::cluster, 600e-6);
  EXPECT_NEAR(t.elsewhere(row, distance::cluster, now_s), 2.0, 0.1);
  for (core_id c = 0; c < 2; ++c) {
    EXPECT_NEAR(t.time_s(row, m.single(c)), 200e-6, 10e-6);
    EXPECT_LT(t.slowdown(c), 1.05);
  }
}

}  // namespace
}  // namespace kilter::model
