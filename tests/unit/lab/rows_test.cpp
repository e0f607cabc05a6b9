#include "measuring/rows.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "presenting/columns.hpp"
#include "statistics/stats.hpp"

namespace kilter::lab {
namespace {

run_row run(const char* policy, std::uint32_t repeat, double seconds, std::uint32_t graph = 0) {
  run_row r{.policy = policy,
            .disturb = "none",
            .repeat = repeat,
            .graph = graph,
            .root_core = repeat % 2};
  r.stats.seconds = seconds;
  r.stats.tasks = 1000;
  r.throughput_per_s = 1000 / seconds;
  r.bound_s = 1.0;
  return r;
}

std::vector<result_row> rows_of_runs(std::vector<run_row> runs, std::vector<std::string> policies) {
  experiment e;
  e.machine = std::make_shared<const machine>(machine::uniform(2));
  e.policies = std::move(policies);
  e.scenarios = {{"none", {}}};
  experiment_result r;
  r.path_s = r.sequential_s = 1.0;
  r.runs = std::move(runs);
  return rows_of(e, r);
}

TEST(stats, median_of_none_one_even_and_odd) {
  EXPECT_TRUE(std::isnan(median({})));
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({4, 1}), 2.5);
  EXPECT_EQ(median({9, 1, 4}), 4);
  EXPECT_EQ(median({9, 1, 4, 5}), 4.5);
}

TEST(rows, rws_is_paired_by_repeat_so_that_drift_cancels) {
  // The machine halves its speed between the repeats; dam-c is 1.25 times rws in each.
  const auto lines = rows_of_runs(
      {run("rws", 0, 1.25), run("dam-c", 0, 1.0), run("rws", 1, 2.5), run("dam-c", 1, 2.0)},
      {"rws", "dam-c"});
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NEAR(*lines[1].ratio_to_rws, 1.25, 1e-12);
  EXPECT_NEAR(*lines[1].ratio_to_rws_min, 1.25, 1e-12);
  EXPECT_NEAR(*lines[1].ratio_to_rws_max, 1.25, 1e-12);
  EXPECT_NEAR(lines[1].ratio_to_bound, 0.75, 1e-12);
  EXPECT_EQ(lines[1].runs, 2u);
}

TEST(rows, without_rws_there_is_no_ratio) {
  const auto lines = rows_of_runs({run("dam-c", 0, 1.0)}, {"dam-c"});
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_FALSE(lines[0].ratio_to_rws.has_value());
}

TEST(rows, warm_runs_are_lines_of_their_own_and_meet_warm_rws) {
  const auto lines = rows_of_runs(
      {run("rws", 0, 1.0), run("rws", 0, 2.0, 1), run("dam-c", 0, 1.0), run("dam-c", 0, 1.0, 1)},
      {"rws", "dam-c"});
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_FALSE(lines[2].warm);
  EXPECT_NEAR(*lines[2].ratio_to_rws, 1.0, 1e-12);
  EXPECT_TRUE(lines[3].warm);
  EXPECT_NEAR(*lines[3].ratio_to_rws, 2.0, 1e-12);
}

TEST(rows, energy_is_a_median_and_absent_if_a_run_has_none) {
  auto a = run("rws", 0, 1.0), b = run("rws", 1, 2.0);
  a.energy_j = 10.0;
  EXPECT_FALSE(rows_of_runs({a, b}, {"rws"})[0].energy_j);
  b.energy_j = 30.0;
  const auto line = rows_of_runs({a, b}, {"rws"})[0];
  EXPECT_EQ(line.energy_j, 20.0);
  EXPECT_EQ(line.edp_js, 35.0) << "10 J s and 60 J s";
}

TEST(rows, every_column_has_a_value) {
  auto rws = run("rws", 0, 1.0, 1), other = run("dam-c", 0, 2.0, 1);
  for (run_row* r : {&rws, &other}) {
    r->energy_j = 10.0;
    r->stats.plan_s = 0.1;
    r->stats.places = {{10, 5}, {30, 5}};
  }
  const auto row = rows_of_runs({rws, other}, {"rws", "dam-c"})[1];
  for (const column& c : columns()) {
    const document value = c.value(row);
    EXPECT_TRUE(value.is_string()    ? value != ""
                : value.is_boolean() ? value == true
                                     : value > 0)
        << c.name << " is " << value;
  }
}

TEST(rows, an_interrupted_experiment_pairs_only_what_has_a_partner) {
  const auto lines = rows_of_runs({run("rws", 0, 1.0), run("dam-c", 0, 0.5), run("dam-c", 1, 0.1)},
                                  {"rws", "dam-c"});
  EXPECT_NEAR(*lines[1].ratio_to_rws_max, 2.0, 1e-12);
}

TEST(rows, critical_share_adds_up_over_runs_weighted_by_tasks) {
  auto a = run("dam-c", 0, 1.0), b = run("dam-c", 1, 1.0);
  a.stats.places = {{10, 5}, {30, 5}};
  b.stats.places = {{0, 5}, {60, 5}};
  const auto lines = rows_of_runs({a, b}, {"dam-c"});
  ASSERT_EQ(lines[0].critical_share.size(), 2u);
  EXPECT_NEAR(lines[0].critical_share[0].share, 0.1, 1e-12);
  EXPECT_NEAR(lines[0].critical_share[1].share, 0.9, 1e-12);
}

}  // namespace
}  // namespace kilter::lab
