// Times by work: what one type teaches about another.

#include <gtest/gtest.h>

#include "model/tables.hpp"

namespace kilter::model {
namespace {

void learn(tables& t, row_id r, place_id p, double seconds, double work, double& now_s) {
  for (int i = 0; i < 4; ++i) {
    now_s += seconds;
    t.learn(r, p, {.sample_s = seconds, .leader_s = seconds, .span_s = seconds, .work = work},
            now_s);
  }
}

TEST(times_by_work, tasks_of_one_type_that_differ_agree_on_a_unit) {
  const machine m = machine::uniform(2);
  tables t(m, table_options::robust());
  const row_id r = t.row("a", 0);
  double now_s = 0.0;
  learn(t, r, m.single(0), 1e-3, 1.0, now_s);
  learn(t, r, m.single(0), 8e-3, 8.0, now_s);
  EXPECT_NEAR(t.time_s(r, m.single(0)), 1e-3, 1e-5);
}

TEST(times_by_work, a_type_that_nobody_has_run_is_guessed_from_the_others) {
  const machine m = machine::uniform(2);
  tables t(m, table_options::robust());
  const row_id known = t.row("known", 0), fresh = t.row("fresh", 0);
  double now_s = 0.0;
  learn(t, known, m.single(0), 6e-3, 3.0, now_s);
  EXPECT_TRUE(t.sampled(known));
  EXPECT_FALSE(t.sampled(fresh));
  EXPECT_NEAR(t.time_s(fresh, m.single(1)), 2e-3, 1e-5);
  learn(t, fresh, m.single(0), 5e-3, 1.0, now_s);
  EXPECT_NEAR(t.time_s(fresh, m.single(0)), 5e-3, 1e-4) << "its own samples count for more";
}

TEST(times_by_work, decisions_about_a_type_that_nobody_has_run_follow_what_the_others_tell_now) {
  const machine m("two clusters", {{0, "core", 0}},
                  {{0, 0, 0, 0, 0}, {1, 1, 0, 0, 0}, {2, 2, 1, 0, 0}, {3, 3, 1, 0, 0}});
  tables t(m, table_options::robust());
  const row_id known = t.row("known", 0), fresh = t.row("fresh", 0);
  double now_s = 0.0;
  const auto cluster_of_best = [&] {
    const place_id best = t.best(fresh, objective::time, widths::all),
                   settled = t.settle(fresh, best, objective::time, now_s, {});
    EXPECT_EQ(best, settled);
    return m.cores()[m.at(settled).leader].cluster;
  };
  learn(t, known, m.single(0), 6e-3, 1.0, now_s);
  learn(t, known, m.single(2), 2e-3, 1.0, now_s);
  EXPECT_EQ(cluster_of_best(), 1u);
}

TEST(times_by_work, tasks_that_tell_no_work_teach_nothing_about_others) {
  const machine m = machine::uniform(2);
  tables t(m, table_options::robust());
  const row_id known = t.row("known", 0), fresh = t.row("fresh", 0);
  const double before_s = t.time_s(fresh, m.single(0));
  double now_s = 0.0;
  learn(t, known, m.single(0), 6e-3, 0.0, now_s);
  EXPECT_DOUBLE_EQ(t.time_s(fresh, m.single(0)), before_s);
}

}  // namespace
}  // namespace kilter::model
