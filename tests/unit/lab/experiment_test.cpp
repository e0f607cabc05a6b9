// What an experiment is made of, and how long it will take.

#include "measuring/experiment.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "measuring/duration.hpp"
#include "unit/lab/experiments.hpp"
#include "unit/support.hpp"

namespace kilter::lab {
namespace {

/// The message with which it is refused, when it is read or when it is planned.
std::string refusal(const std::function<void(specification&)>& change) {
  return kilter::test::refusal([&] {
    specification a;
    change(a);
    (void)plan(a);
  });
}

void expect_refused(const std::function<void(specification&)>& change, const std::string& value,
                    const std::string& right) {
  const std::string message = refusal(change);
  EXPECT_NE(message.find(value), std::string::npos) << "does not name the value: " << message;
  EXPECT_NE(message.find(right), std::string::npos)
      << "does not say what would be right: " << message;
}

TEST(plan, defaults_are_accepted_and_undisturbed_comes_first) {
  specification a;
  a.disturb = test::scenarios({"cpu@0", "none", "cpu@0"});
  const experiment e = plan(a);
  EXPECT_EQ(std::get<layered_work>(e.work).shape.tasks, 32'000u);
  EXPECT_EQ(std::get<layered_work>(e.work).tile, 64u);
  EXPECT_EQ(e.policies, std::vector<std::string>{"auto"});
  ASSERT_EQ(e.scenarios.size(), 2u) << "a scenario that is named twice is measured once";
  EXPECT_EQ(e.scenarios[0].name, "none");
  EXPECT_EQ(e.scenarios[1].name, "cpu@0");
}

TEST(plan, all_is_the_whole_catalogue_and_names_are_not_repeated) {
  specification a;
  a.policy_lists = read_policies({"dam-c,rws", "all"});
  const experiment e = plan(a);
  EXPECT_EQ(e.policies.size(), policy_catalogue().size());
  EXPECT_EQ(e.policies[0], "dam-c");
}

TEST(plan, refuses_unknown_names_and_guesses_what_was_meant) {
  expect_refused([](auto& a) { a.policy_lists = read_policies({"damc"}); }, "'damc'",
                 "did you mean 'dam-c'");
  expect_refused([](auto& a) { a.policy_lists = read_policies({"rws,"}); }, "''", "there are rws");
  expect_refused([](auto& a) { a.policy_lists = read_policies({"heft2000"}); }, "'heft2000'",
                 "there are rws, rwsm-c");
  expect_refused(
      [](auto& a) {
        a.work = make_workload("layered", {{"kernel", "matmull"}});
      },
      "'matmull'", "did you mean 'matmul'");
  expect_refused([](auto& a) { read_setting(a, "table", "robot"); }, "'robot'",
                 "did you mean 'robust'");
  expect_refused([](auto& a) { read_setting(a, "table", "sturdy"); }, "'sturdy'",
                 "there are paper, robust");
  expect_refused([](auto& a) { read_setting(a, "criticality", "chain_closed"); }, "'chain_closed'",
                 "did you mean 'chain-closed'");
}

TEST(plan, refuses_zero_negative_and_absurd_counts_with_the_limit) {
  for (const char* bad :
       {"0", "-1", "100000001", "99999999999999999999999", "1.5", "ten", "", " 5", "5x"}) {
    if (*bad == '\0') continue;
    expect_refused(
        [&](auto& a) {
          a.work = make_workload("layered", {{"tasks", bad}});
        },
        bad, "from 1 to 100000000");
    expect_refused([&](auto& a) { read_setting(a, "repeat", bad); }, bad, "from 1 to 10000");
  }
  expect_refused(
      [](auto& a) {
        a.work = make_workload("layered", {{"tile", "0"}});
      },
      "'0'", "from 1 to 8192");
  expect_refused(
      [](auto& a) {
        a.work = make_workload("layered", {{"tile", "8193"}});
      },
      "'8193'", "from 1 to 8192");
  expect_refused(
      [](auto& a) {
        a.work = make_workload("layered", {{"kernel", "stencil"}, {"tile", "2"}});
      },
      "2", "3 or more");
  expect_refused(
      [](auto& a) {
        a.work = make_workload("layered", {{"kernel", "sort"}, {"tile", "6"}});
      },
      "6", "multiple of 4");
  expect_refused(
      [](auto& a) {
        a.work = make_workload("layered", {{"parallelism", "0"}});
      },
      "'0'", "from 1");
  expect_refused(
      [](auto& a) {
        a.work = make_workload("layered", {{"tasks", "10"}, {"parallelism", "11"}});
      },
      "11", "10 tasks");
  expect_refused(
      [](auto& a) {
        a.work = make_workload("layered", {{"sweeps", "2"}});
      },
      "2", "stencil");
}

TEST(plan, refuses_cores_that_are_not_there) {
  expect_refused([](auto& a) { a.cores = "0-99999"; }, "99999", "core");
  expect_refused([](auto& a) { a.fast = "99999,"; }, "99999", "core");
  expect_refused([](auto& a) { a.disturb = test::scenarios({"cpu@99999"}); }, "99999", "core");
}

TEST(plan, refuses_disturbances_that_only_a_simulator_has) {
  expect_refused([](auto& a) { a.disturb = test::scenarios({"offline@0"}); }, "offline@0",
                 "simulated");
  expect_refused([](auto& a) { a.disturb = test::scenarios({"gpu@0"}); }, "gpu", "cpu");
}

TEST(plan, refuses_to_move_data_where_nothing_tells_what_that_costs) {
  for (const char* on : {"native", "emulate:haswell-16"})
    expect_refused([&](auto& a) { read_setting(a, "on", on), read_setting(a, "data", "moved"); },
                   "--data moved", "sim:PLATFORM");
}

TEST(plan, refuses_what_the_simulator_would_get_wrong) {
  const auto refused = [](const char* disturb, const std::string& why) {
    expect_refused(
        [&](auto& a) {
          a.on = read_engine("--on", "sim:jetson-tx2"), a.disturb = test::scenarios({disturb});
        },
        "core", why);
  };
  refused("cpu@0+mem@0", "two co-runners");
  refused("cpu@0-2@0..1+cpu@2@0.5..2", "two co-runners");
  refused("freq@0:50%+freq@1:20%", "both set the clock");
  specification a;
  a.on = read_engine("--on", "sim:jetson-tx2");
  for (const char* good :
       {"cpu@0+mem@1", "cpu@0@0..1+mem@0@1..2", "cpu@0+share@0:50%", "freq@0:50%+freq@2:20%"}) {
    a.disturb = test::scenarios({good});
    EXPECT_NO_THROW((void)plan(a)) << good;
  }
}

TEST(plan, refuses_a_simulated_machine_that_nobody_stays_on) {
  specification a;
  a.on = read_engine("--on", "sim:grid:1x2");
  for (const char* good :
       {"offline@0", "offline@all@0..1", "quota@all:50%", "offline@0+offline@1@1..2"}) {
    a.disturb = test::scenarios({good});
    EXPECT_NO_THROW((void)plan(a)) << good;
  }
  for (const char* bad : {"offline@all", "offline@0+offline@1"})
    expect_refused([&](auto& b) { b.on = a.on, b.disturb = test::scenarios({bad}); }, "offline@0",
                   "no core is left");
}

TEST(plan, cores_are_numbered_anew_and_disturbances_take_the_new_numbers) {
  specification a;
  const machine here = machine::local();
  a.cores = std::to_string(here.core_count() - 1) + ",";
  a.disturb = test::scenarios({"cpu@0"});
  const experiment e = plan(a);
  ASSERT_EQ(e.machine->core_count(), 1u);
  EXPECT_EQ(e.machine->cores()[0].os_index, here.cores().back().os_index);
}

TEST(settings, every_word_and_every_default_reads_back_to_the_same_text) {
  const specification standard;
  for (const setting& one : settings()) {
    specification s;
    for (const std::string_view word : one.words) {
      read_setting(s, one.name, word);
      EXPECT_EQ(text_of(s, one.name), word) << one.option();
    }
    if (one.name == "policy" || one.name == "disturb") continue;  // a list more
    read_setting(s, one.name, text_of(standard, one.name));
    EXPECT_EQ(text_of(s, one.name), text_of(standard, one.name)) << one.option();
  }
}

TEST(settings, no_two_have_one_name) {
  for (const setting& one : settings()) EXPECT_EQ(find_setting(one.name), &one) << one.option();
}

TEST(disturbances, as_values_are_what_their_text_says) {
  const machine m = machine::uniform(4);
  for (const char* text :
       {"cpu@0", "share@0-1:50%", "wave@0-3:17%,0.1", "offline@0@25%..50%", "quota@all:60%"})
    for (const disturbance& d : parse_disturbances(text, m)) {
      const asked_disturbance asked(d);
      EXPECT_EQ(placed({asked}, m), std::vector{d}) << text;
      EXPECT_EQ(placed(read_disturbances(asked.written), m), std::vector{d}) << asked.written;
    }
}

// How long a run will take is said before it begins, from what the graph states.

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
  EXPECT_EQ(kilter::test::refusal([] {
              (void)announcement({7200.0, 30}, false);
            }),
            "this takes at least about 2.0 h: 30 runs; say --yes to have it so, or ask for less "
            "(--repeat, --policy, --disturb, --scale)");
  EXPECT_EQ(announcement({7200.0, 30}, true), "this takes at least about 2.0 h: 30 runs");
  EXPECT_EQ(duration_text(90), "90 s");
  EXPECT_EQ(duration_text(600), "10 min");
  EXPECT_EQ(duration_text(3600 * 24.0 * 12), "12 days");
}

}  // namespace
}  // namespace kilter::lab
