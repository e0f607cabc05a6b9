// How long a run will take is said before it begins, from what the graph states.
#include "measuring/duration.hpp"

#include <gtest/gtest.h>

#include "kilter/error.hpp"
#include "unit/lab/scenarios.hpp"

namespace kilter::lab {
namespace {

experiment here(const std::string& graph, std::vector<std::string> disturb = {}) {
  specification a;
  a.work = make_workload("graph", {{"file", graph}});
  a.policy_lists = read_policies({"rws,dam-c"});
  a.repeats = 3;
  a.graphs = 2;
  a.disturb = test::scenarios(disturb);
  a.cores = "1";
  experiment e = plan(a);
  e.calibration_s = 0.0;  // the loops apart, what is left is exact
  return e;
}

TEST(duration, counts_every_policy_scenario_repeat_graph_and_traced_run) {
  // A fork of a tenth, two stages of three tasks of ten seconds, two joins of a tenth: 63 seconds
  // on one core.
  const duration d = expected_duration(here("fork-join:width=3,stages=2,seconds=10"));
  EXPECT_EQ(d.runs, 2u * (3 * 2 + 1));
  EXPECT_NEAR(d.seconds, 63.0 * 14, 0.1);
  const duration disturbed = expected_duration(
      here("fork-join:width=3,stages=2,seconds=10", {"cpu@0", "share@0:25%", "cpu@0@0..100"}));
  EXPECT_EQ(disturbed.runs, 4 * d.runs);
  EXPECT_NEAR(disturbed.seconds, (63.0 + 2 * 63.0 + 4 * 63.0 + (100 + 13.0)) * 14, 0.1)
      << "a co-runner takes half, a share what it says, and a window ends";
}

TEST(duration, takes_the_longest_path_where_that_is_longer_and_the_scale) {
  specification a;
  a.work = make_workload("graph", {{"file", "layered:tasks=100,p=1,seconds=2"}, {"scale", "0.5"}});
  a.policy_lists = read_policies({"rws"});
  a.repeats = 1;
  a.details = false;
  experiment e = plan(a);
  e.calibration_s = 0.0;
  EXPECT_NEAR(expected_duration(e).seconds, 100.0, 0.1) << "a chain, on however many cores";
}

TEST(duration, counts_the_loops_that_measure_the_bound) {
  experiment e = here("fork-join:width=1,stages=1,seconds=1e-9", {"cpu@0"});
  e.calibration_s = 5.0;
  EXPECT_NEAR(expected_duration(e).seconds, 2 * 2 * 5.0, 0.5)
      << "before and after, undisturbed and disturbed, one core";
}

TEST(duration, a_kernel_is_tried_and_virtual_time_is_free) {
  specification a;
  a.work = make_workload("layered", {{"tasks", "1000"}, {"kernel", "matmul"}, {"tile", "64"}});
  const double some_s = expected_duration(plan(a)).seconds;
  a.work = make_workload("layered", {{"tasks", "10000000"}, {"kernel", "matmul"}, {"tile", "64"}});
  EXPECT_GT(expected_duration(plan(a)).seconds, 100 * some_s);
  a.work = make_workload("layered", {{"tasks", "100"}, {"kernel", "matmul"}, {"tile", "4096"}});
  EXPECT_GT(expected_duration(plan(a)).seconds, 100.0) << "of a large one some rows are enough";
  a.on = read_engine("--on", "sim:jetson-tx2");
  EXPECT_EQ(expected_duration(plan(a)).seconds, 0.0);
}

TEST(duration, emulated_bodies_sleep_as_long_as_the_scale_makes_them) {
  specification a;
  a.policy_lists = read_policies({"rws"});
  a.repeats = 1;
  a.details = false;
  a.work = make_workload("layered", {{"tasks", "1000"}});
  a.on = read_engine("--on", "emulate:jetson-tx2,10");
  const duration ten = expected_duration(plan(a));
  a.on = read_engine("--on", "emulate:jetson-tx2,1000");
  EXPECT_NEAR(expected_duration(plan(a)).seconds, 100 * ten.seconds, 1e-6 * ten.seconds);
  EXPECT_EQ(ten.runs, 1u);
}

TEST(duration, says_it_and_asks_above_a_minute) {
  EXPECT_EQ(announcement({4.9, 3}, false), "");
  EXPECT_EQ(announcement({59.0, 3}, false), "this takes at least about 59 s: 3 runs");
  try {
    (void)announcement({7200.0, 30}, false);
    ADD_FAILURE() << "begun without a word";
  } catch (const input_error& e) {
    EXPECT_EQ(std::string(e.what()),
              "this takes at least about 2.0 h: 30 runs; say --yes to have it so, or ask for less "
              "(--repeat, --policy, --disturb, --scale)");
  }
  EXPECT_EQ(announcement({7200.0, 30}, true), "this takes at least about 2.0 h: 30 runs");
  EXPECT_EQ(duration_text(90), "90 s");
  EXPECT_EQ(duration_text(600), "10 min");
  EXPECT_EQ(duration_text(3600 * 24.0 * 12), "12 days");
}

}  // namespace
}  // namespace kilter::lab
