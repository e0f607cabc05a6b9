#include "measuring/experiment.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "kilter/error.hpp"
#include "unit/lab/scenarios.hpp"

namespace kilter::lab {
namespace {

/// The message with which it is refused, when it is read or when it is planned; empty if it is not.
std::string refusal(const std::function<void(specification&)>& change) {
  specification a;
  try {
    change(a);
    (void)plan(a);
  } catch (const input_error& e) {
    return e.what();
  }
  return {};
}

void expect_refused(const std::function<void(specification&)>& change, const std::string& value,
                    const std::string& right) {
  const std::string message = refusal(change);
  EXPECT_NE(message.find(value), std::string::npos) << "does not name the value: " << message;
  EXPECT_NE(message.find(right), std::string::npos)
      << "does not say what would be right: " << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
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

}  // namespace
}  // namespace kilter::lab
