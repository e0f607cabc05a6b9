#include "lab/measuring/experiment.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "kilter/error.hpp"

namespace kilter::lab {
namespace {

/// The message with which the arguments are refused; empty if they are not.
std::string refusal(const std::function<void(bench_arguments&)>& change) {
  bench_arguments a;
  change(a);
  try {
    (void)plan(a);
  } catch (const input_error& e) {
    return e.what();
  }
  return {};
}

void expect_refused(const std::function<void(bench_arguments&)>& change, const std::string& value, const std::string& right) {
  const std::string message = refusal(change);
  EXPECT_NE(message.find(value), std::string::npos) << "does not name the value: " << message;
  EXPECT_NE(message.find(right), std::string::npos) << "does not say what would be right: " << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

TEST(plan, defaults_are_accepted_and_undisturbed_comes_first) {
  bench_arguments a;
  a.disturb = {"cpu@0", "none", "cpu@0"};
  const experiment e = plan(a);
  EXPECT_EQ(std::get<layered_work>(e.work).shape.tasks, 32'000u);
  EXPECT_EQ(std::get<layered_work>(e.work).tile, 64u);
  EXPECT_EQ(e.policies, std::vector<std::string>{"auto"});
  ASSERT_EQ(e.scenarios.size(), 2u) << "a scenario that is named twice is measured once";
  EXPECT_EQ(e.scenarios[0].name, "none");
  EXPECT_EQ(e.scenarios[1].name, "cpu@0");
}

TEST(plan, all_is_the_whole_catalogue_and_names_are_not_repeated) {
  bench_arguments a;
  a.policies = {"dam-c,rws", "all"};
  const experiment e = plan(a);
  EXPECT_EQ(e.policies.size(), policy_catalogue().size());
  EXPECT_EQ(e.policies[0], "dam-c");
}

TEST(plan, refuses_unknown_names_and_guesses_what_was_meant) {
  expect_refused([](auto& a) { a.policies = {"damc"}; }, "'damc'", "did you mean 'dam-c'");
  expect_refused([](auto& a) { a.policies = {"rws,"}; }, "''", "there are rws");
  expect_refused([](auto& a) { a.policies = {"heft2000"}; }, "'heft2000'", "there are rws, rwsm-c");
  expect_refused([](auto& a) { a.parameters["kernel"] = "matmull"; }, "'matmull'", "did you mean 'matmul'");
  expect_refused([](auto& a) { a.table = "robot"; }, "'robot'", "paper, robust");
  expect_refused([](auto& a) { a.criticality = "chain_closed"; }, "'chain_closed'", "did you mean 'chain-closed'");
}

TEST(plan, refuses_zero_negative_and_absurd_counts_with_the_limit) {
  for (const char* bad : {"0", "-1", "100000001", "99999999999999999999999", "1.5", "ten", "", " 5", "5x"}) {
    if (*bad == '\0') continue;
    expect_refused([&](auto& a) { a.parameters["tasks"] = bad; }, bad, "from 1 to 100000000");
    expect_refused([&](auto& a) { a.repeat = bad; }, bad, "from 1 to 10000");
  }
  expect_refused([](auto& a) { a.parameters["tile"] = "0"; }, "'0'", "from 1 to 8192");
  expect_refused([](auto& a) { a.parameters["tile"] = "8193"; }, "'8193'", "from 1 to 8192");
  expect_refused([](auto& a) { a.parameters["kernel"] = "stencil", a.parameters["tile"] = "2"; }, "2", "3 or more");
  expect_refused([](auto& a) { a.parameters["kernel"] = "sort", a.parameters["tile"] = "6"; }, "6", "multiple of 4");
  expect_refused([](auto& a) { a.parameters["parallelism"] = "0"; }, "'0'", "from 1");
  expect_refused([](auto& a) { a.parameters["tasks"] = "10", a.parameters["parallelism"] = "11"; }, "11", "10 tasks");
  expect_refused([](auto& a) { a.parameters["sweeps"] = "2"; }, "2", "stencil");
}

TEST(plan, refuses_cores_that_are_not_there) {
  expect_refused([](auto& a) { a.cores = "0-99999"; }, "99999", "core");
  expect_refused([](auto& a) { a.fast = "99999,"; }, "99999", "core");
  expect_refused([](auto& a) { a.disturb = {"cpu@99999"}; }, "99999", "core");
}

TEST(plan, refuses_disturbances_that_only_a_simulator_has) {
  expect_refused([](auto& a) { a.disturb = {"offline@0"}; }, "offline@0", "simulated");
  expect_refused([](auto& a) { a.disturb = {"gpu@0"}; }, "gpu", "cpu");
}

TEST(plan, refuses_what_the_simulator_would_get_wrong) {
  const auto refused = [](const char* disturb, const std::string& why) {
    expect_refused([&](auto& a) { a.on = "sim:jetson-tx2", a.disturb = {disturb}; }, "core", why);
  };
  refused("cpu@0+mem@0", "two co-runners");
  refused("cpu@0-2@0..1+cpu@2@0.5..2", "two co-runners");
  refused("freq@0:50%+freq@1:20%", "both set the clock");
  bench_arguments a;
  a.on = "sim:jetson-tx2";
  for (const char* good : {"cpu@0+mem@1", "cpu@0@0..1+mem@0@1..2", "cpu@0+share@0:50%", "freq@0:50%+freq@2:20%"}) {
    a.disturb = {good};
    EXPECT_NO_THROW((void)plan(a)) << good;
  }
}

TEST(plan, refuses_a_simulated_machine_that_nobody_stays_on) {
  bench_arguments a;
  a.on = "sim:grid:1x2";
  for (const char* good : {"offline@0", "offline@all@0..1", "quota@all:50%", "offline@0+offline@1@1..2"}) {
    a.disturb = {good};
    EXPECT_NO_THROW((void)plan(a)) << good;
  }
  for (const char* bad : {"offline@all", "offline@0+offline@1"})
    expect_refused([&](auto& b) { b.on = a.on, b.disturb = {bad}; }, "offline@0", "no core is left");
}

TEST(plan, cores_are_numbered_anew_and_disturbances_take_the_new_numbers) {
  bench_arguments a;
  const machine here = machine::local();
  a.cores = std::to_string(here.core_count() - 1) + ",";
  a.disturb = {"cpu@0"};
  const experiment e = plan(a);
  ASSERT_EQ(e.machine->core_count(), 1u);
  EXPECT_EQ(e.machine->cores()[0].os_index, here.cores().back().os_index);
}

}  // namespace
}  // namespace kilter::lab
