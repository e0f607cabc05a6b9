// Disturbances as values, and what they leave of runs and of programs.

#include "disturbing/disturbance.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kilter/error.hpp"
#include "measuring/timeline.hpp"
#include "presenting/disturbed_program_output.hpp"
#include "unit/support.hpp"

namespace kilter::lab {
namespace {

// The grammar of disturbances: what is read, what is refused, and in which words.

using kind = disturbance_kind;

const machine& four_cores() {
  static const machine m = machine::uniform(4);
  return m;
}

disturbance one(std::string_view text) {
  const auto all = parse_disturbances(text, four_cores());
  EXPECT_EQ(all.size(), 1u) << text;
  return all.at(0);
}

TEST(parse_disturbances, reads_every_form) {
  EXPECT_EQ(one("cpu@0"), (disturbance{kind::cpu, {0}, 1.0, 0.0, {}}));
  EXPECT_EQ(one("mem@1-3"), (disturbance{kind::mem, {1, 2, 3}, 1.0, 0.0, {}}));
  EXPECT_EQ(one("session@3,0"), (disturbance{kind::session, {0, 3}, 1.0, 0.0, {}}));
  EXPECT_EQ(one("float@all"), (disturbance{kind::floating, {0, 1, 2, 3}, 1.0, 0.0, {}}));
  EXPECT_EQ(one("share@2:50%"), (disturbance{kind::share, {2}, 0.5, 0.0, {}}));
  EXPECT_EQ(one("share@2:29.5%@1..2.5"),
            (disturbance{kind::share, {2}, 0.295, 0.0, disturbance_window{1, 2.5, false}}));
  EXPECT_EQ(one("wave@0"), (disturbance{kind::wave, {0}, 0.17, 0.5, {}}));
  EXPECT_EQ(one("wave@0:30%"), (disturbance{kind::wave, {0}, 0.3, 0.5, {}}));
  EXPECT_EQ(one("wave@0-1:17%,5@25%..75%"),
            (disturbance{kind::wave, {0, 1}, 0.17, 5.0, disturbance_window{0.25, 0.75, true}}));
  EXPECT_EQ(one("quota@all:50%"), (disturbance{kind::quota, {0, 1, 2, 3}, 0.5, 0.0, {}}));
  EXPECT_EQ(one("freq@0:17%,5"), (disturbance{kind::freq, {0}, 0.17, 5.0, {}}));
  EXPECT_EQ(one("freq@0:60%"), (disturbance{kind::freq, {0}, 0.6, 0.0, {}}));
  EXPECT_EQ(one("offline@1@0%..50%"),
            (disturbance{kind::offline, {1}, 1.0, 0.0, disturbance_window{0, 0.5, true}}));
}

TEST(parse_disturbances, a_number_is_a_core_and_never_a_count) {
  EXPECT_EQ(one("cpu@3").cores, std::vector<core_id>{3});
}

TEST(parse_disturbances, none_is_the_empty_scenario) {
  EXPECT_TRUE(parse_disturbances("none", four_cores()).empty());
}

TEST(parse_disturbances, joins_several) {
  const auto all =
      parse_disturbances("cpu@0+mem@1+share@2:17%@0..1+share@2:50%@1..2", four_cores());
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[1].kind, kind::mem);
  EXPECT_EQ(all[3].share, 0.5);
}

TEST(to_string, reads_back_to_the_same_value) {
  for (const char* text : {"cpu@0", "mem@0,2-3", "share@1:17%", "share@1:29.4%", "wave@0:17%,0.5",
                           "wave@0:1%,0.02@0.1..0.7", "wave@0-3:33.3%,5@12.5%..75%",
                           "quota@0-3:99%", "freq@0:7%", "cpu@0+float@0-3+offline@2@1..3"}) {
    const auto all = parse_disturbances(text, four_cores());
    EXPECT_EQ(to_string(all), text);
    EXPECT_EQ(parse_disturbances(to_string(all), four_cores()), all);
  }
  EXPECT_EQ(to_string(std::vector<disturbance>{}), "none");
  for (int tenths = 10; tenths < 990; ++tenths) {
    const disturbance d{kind::share, {0}, tenths / 10.0 / 100, 0.0, {}};
    ASSERT_EQ(parse_disturbances(to_string(d), four_cores()).at(0), d) << to_string(d);
  }
}

struct refused_text {
  const char* text;
  const char* names;  // what the message must contain: the wrong value, or the way out
};

class disturbance_refused : public testing::TestWithParam<refused_text> {};

TEST_P(disturbance_refused, in_one_line_that_names_it) {
  kilter::test::expect_names(
      kilter::test::refusal([] { (void)parse_disturbances(GetParam().text, four_cores()); }),
      {GetParam().names});
}

INSTANTIATE_TEST_SUITE_P(
    inputs, disturbance_refused,
    testing::Values(
        refused_text{"", "none"}, refused_text{"cpux@0", "unknown kind 'cpux'"},
        refused_text{"cpux@0", "did you mean 'cpu'?"}, refused_text{"noise@0", "wave"},
        refused_text{"@0", "unknown kind ''"}, refused_text{"cpu", "names no core"},
        refused_text{"cpu@", "no list of cores"}, refused_text{"cpu@x", "'x'"},
        refused_text{"cpu@0,", "'0,'"}, refused_text{"cpu@-1", "'-1'"},
        refused_text{"cpu@1.5", "'1.5'"}, refused_text{"cpu@4", "core 4 does not exist"},
        refused_text{"cpu@4", "0 to 3"}, refused_text{"cpu@99999999999", "does not exist"},
        refused_text{"cpu@0-4", "core 4"},
        refused_text{"cpu@0-4294967295", "core 4294967295 does not exist"},
        refused_text{"cpu@3-1", "backwards"}, refused_text{"cpu@0,0", "twice"},
        refused_text{"cpu@0-2,1", "core 1 is named twice"},
        refused_text{"cpu@0:17%", "takes no share"}, refused_text{"offline@0:1%", "takes no share"},
        refused_text{"share@0", "needs the share"}, refused_text{"share@0:", "not in percent"},
        refused_text{"share@0:0%", "share 0%"}, refused_text{"share@0:100%", "share 100%"},
        refused_text{"share@0:-5%", "share -5%"}, refused_text{"share@0:nan%", "no number"},
        refused_text{"share@0:17", "not in percent"}, refused_text{"share@0:x%", "'x'"},
        refused_text{"share@0:17%,1", "no half period"},
        refused_text{"wave@0:17%,0", "half period 0"},
        refused_text{"wave@0:17%,", "half period ''"},
        refused_text{"wave@0:17%,-1", "half period -1"},
        refused_text{"wave@0:17%,1e9", "half period 1e9"},
        refused_text{"cpu@0@1", "no span of time"}, refused_text{"cpu@0@", "no span of time"},
        refused_text{"cpu@0@2..1", "ends before it starts"},
        refused_text{"cpu@0@1..1", "ends before it starts"}, refused_text{"cpu@0@25%..2", "mixes"},
        refused_text{"cpu@0@50%..120%", "120%"}, refused_text{"cpu@0@-1..2", "negative"},
        refused_text{"cpu@0@..2", "no number"}, refused_text{"cpu@0@a..b", "'a'"},
        refused_text{"cpu@0@1..1e300", "absurd"}, refused_text{"cpu@0+", "empty"},
        refused_text{"cpu@0++mem@1", "empty"}, refused_text{"cpu@0+none", "alone"},
        refused_text{"share@0:50%+wave@0-1", "core 0"},
        refused_text{"share@0:50%@0..1+wave@0@10%..20%", "core 0"},
        refused_text{"quota@all:50%+quota@all:20%", "one quota"}));

const machine two = machine::uniform(2);

speed half_of_core_0(active_set set) {
  return set == 0 ? speed{2000.0, 1000.0} : speed{1500.0, 1000.0};
}

TEST(bound, is_the_longer_of_work_and_path) {
  EXPECT_DOUBLE_EQ(bound_s({}, 2000, 10, half_of_core_0), 1.0);
  EXPECT_DOUBLE_EQ(bound_s({}, 2000, 1500, half_of_core_0), 1.5);
}

TEST(bound, of_a_steady_disturbance_uses_what_is_left) {
  const auto parts = parse_disturbances("cpu@0", two);
  EXPECT_NEAR(bound_s(parts, 3000, 1500, half_of_core_0), 2.0, 1e-9);
}

TEST(bound, of_a_wave_counts_its_full_speed_half_first) {
  const auto parts = parse_disturbances("wave@0:17%,0.5", two);
  EXPECT_NEAR(bound_s(parts, 1000, 1, half_of_core_0), 0.5, 1e-9)
      << "a run within the first half is undisturbed";
  EXPECT_NEAR(bound_s(parts, 1000 + 750 + 1000, 1, half_of_core_0), 1.5, 1e-9);
}

TEST(bound, of_a_window_in_seconds_and_in_fractions) {
  EXPECT_NEAR(bound_s(parse_disturbances("cpu@0@1..2", two), 2000 + 1500 + 500, 1, half_of_core_0),
              2.25, 1e-9);
  EXPECT_NEAR(bound_s(parse_disturbances("cpu@0@25%..75%", two), 3500, 1, half_of_core_0), 2.0,
              1e-6);
}

TEST(bound, never_hangs_when_a_wave_leaves_nothing) {
  const auto parts = parse_disturbances("wave@0:10%,0.02", two);
  EXPECT_NEAR(bound_s(parts, 1000, 1,
                      [](active_set set) {
                        return set == 0 ? speed{1000.0, 1000.0} : speed{1e-3, 1e-3};
                      }),
              1.98, 0.05);
}

TEST(timeline, sets_are_the_ones_that_occur_in_the_run) {
  const auto parts = parse_disturbances("cpu@0@1..2+share@1:50%", two);
  EXPECT_EQ(sets_within(parts, 0.5), (std::vector<active_set>{2}));
  EXPECT_EQ(sets_within(parts, 1.5), (std::vector<active_set>{2, 3}));
}

TEST(timeline, a_wave_is_measured_as_the_share_of_its_slow_half) {
  const auto steady = steady_parts(parse_disturbances("wave@0:17%,0.5", two), 1);
  ASSERT_EQ(steady.size(), 1u);
  EXPECT_EQ(to_string(steady[0]), "share@0:17%");
}

// A program under a disturbance: what is concluded from its times, and what users read.

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
