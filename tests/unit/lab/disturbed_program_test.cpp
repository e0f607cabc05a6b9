// A program under a disturbance: what is concluded from its times, and what users read.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kilter/error.hpp"
#include "presenting/disturbed_program_output.hpp"

namespace kilter::lab {
namespace {

disturbed_result measured(std::vector<double> against, std::vector<double> disturbed,
                          std::optional<double> at_most = std::nullopt) {
  disturbed_result r{.asked = {.program = {"./solver"}, .disturb = "cpu@0", .at_most = at_most},
                     .runs = {},
                     .against = {},
                     .disturbed = {},
                     .failed = std::nullopt};
  r.against = {.disturb = "none", .seconds = std::move(against)};
  r.disturbed = {.disturb = "cpu@0", .seconds = std::move(disturbed), .achieved_share = 0.5};
  return r;
}

TEST(disturbed_program, is_judged_by_the_ratio_of_medians) {
  const disturbed_result r = measured({2.0, 9.0, 2.0}, {3.0, 3.0, 1.0}, 1.5);
  EXPECT_DOUBLE_EQ(r.ratio().value_or(0), 1.5);
  EXPECT_TRUE(r.passes());
  EXPECT_FALSE(measured({2.0}, {3.1}, 1.5).passes());
  EXPECT_TRUE(measured({2.0}, {300.0}).passes());
}

TEST(disturbed_program, that_failed_or_was_stopped_does_not_pass) {
  disturbed_result failed = measured({2.0}, {2.0}), stopped = failed;
  failed.failed = timed_run{"cpu@0", 2, 0.1, 4 << 8};
  EXPECT_FALSE(failed.passes());
  EXPECT_EQ(failed.ratio(), std::nullopt);
  EXPECT_NE(disturbed_text(failed).find("failed: run 2 under cpu@0 ended with exit status 4\n"),
            std::string::npos);
  stopped.stopped_by = 15;
  EXPECT_FALSE(stopped.passes());
}

TEST(disturbed_program, as_text) {
  EXPECT_EQ(disturbed_text(measured({2.0}, {4.0}, 1.5)),
            "./solver\n"
            "  none   2 s (2 .. 2, 1 run)\n"
            "  cpu@0  4 s (4 .. 4, 1 run); 50 % of the disturbed cores' time was left\n"
            "  ratio  2.000, too slow: 1.5 at most\n");
}

TEST(disturbed_program, as_json) {
  disturbed_result r = measured({2.0}, {}, 1.5);
  r.runs = {{"none", 1, 2.0, 0}, {"cpu@0", 1, 1.0, 9}};
  r.failed = r.runs.back();
  const auto d = nlohmann::json::parse(disturbed_json(r));
  EXPECT_EQ(d["schema"], "kilter.disturbed/1");
  EXPECT_TRUE(d["ratio"].is_null());
  EXPECT_TRUE(d["disturbed"]["median_s"].is_null());
  EXPECT_EQ(d["runs"][1]["status"], 137);
  EXPECT_EQ(d["passes"], false);
}

TEST(disturbed_program, is_run_under_both_in_turn) {
  const prefix::held_signals signals;
  std::vector<std::string> order;
  const disturbed_result r =
      run_disturbed(machine::local(), {.program = {"true"}, .disturb = "cpu@0", .repeat = 2},
                    signals, [&](const timed_run& run) { order.push_back(run.disturb); });
  EXPECT_EQ(order, (std::vector<std::string>{"none", "cpu@0", "cpu@0", "none"}));
  EXPECT_TRUE(r.passes());
  EXPECT_EQ(r.against.seconds.size(), 2U);
  EXPECT_EQ(r.disturbed.seconds.size(), 2U);
}

TEST(disturbed_program, that_cannot_be_run_is_refused) {
  const prefix::held_signals signals;
  EXPECT_THROW(static_cast<void>(run_disturbed(machine::local(),
                                               {.program = {"/no/such"}, .disturb = "none"},
                                               signals, [](const timed_run&) {})),
               input_error);
}

}  // namespace
}  // namespace kilter::lab
