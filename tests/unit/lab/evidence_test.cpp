#include "measuring/evidence.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "measuring/rows.hpp"
#include "presenting/compare_text.hpp"
#include "unit/lab/experiments.hpp"

namespace kilter::lab {
namespace {

experiment two_cores() {
  experiment e;
  e.options.machine = e.machine = std::make_shared<const machine>(machine::uniform(2));
  e.policies = {"rws", "dam-c"};
  e.scenarios = {{"none", {}}, {"cpu@0", parse_disturbances("cpu@0", *e.machine)}};
  return e;
}

trace::event decision(std::int64_t ms, core_id leader) {
  trace::event e;
  e.kind = trace::event_kind::decision;
  e.start_ns = e.end_ns = ms * 1'000'000;
  e.leader = leader;
  return e;
}

trace::event sample(std::int64_t ms, core_id leader, float seconds, float slowdown) {
  trace::event e = decision(ms, leader);
  e.kind = trace::event_kind::table;
  e.core = leader;
  e.value = seconds;
  e.aux = slowdown;
  return e;
}

/// Critical tasks on core 0 for 50 ms, then on core 1; `relapse`: back to core 0 for the last 50
/// ms.
experiment_result learned(bool relapse) {
  experiment_result r;
  detail d{.policy = "dam-c", .disturb = "cpu@0", .seconds = 0.2};
  d.events = {sample(0, 0, 16e-6f, 1.0f), sample(20, 1, 16.5e-6f, 1.0f),
              sample(49, 0, 33e-6f, 2.05f)};
  for (int ms = 0; ms < 200; ++ms)
    d.events.push_back(decision(ms, ms < 50 || (relapse && ms >= 150) ? 0 : 1));
  r.details.push_back(std::move(d));
  return r;
}

bool some(const std::vector<std::string>& sentences, std::initializer_list<const char*> pieces) {
  return std::any_of(sentences.begin(), sentences.end(), [&](const std::string& s) {
    return std::all_of(pieces.begin(), pieces.end(),
                       [&](const char* p) { return s.find(p) != s.npos; });
  });
}

result_row row_of(const char* policy, const char* disturb) {
  return {.graph = "layered", .on = "native", .disturb = disturb, .policy = policy, .runs = 2};
}

std::string text_of(const experiment& e, const experiment_result& r) {
  return compare_text(test::outcome_of(e, r), false, 100);
}

TEST(evidence, a_run_faster_than_the_bound_says_that_the_bound_fails) {
  experiment_result r;
  for (const char* policy : {"rws", "dam-c"}) {
    r.rows.push_back(row_of(policy, "none"));
    r.rows.back().ratio_to_bound = 1.0;
  }
  EXPECT_FALSE(some(evidence_of(two_cores(), r), {"of the bound"}));
  r.rows[0].ratio_to_bound = 1.19;
  const auto out = evidence_of(two_cores(), r);
  EXPECT_TRUE(some(out, {"Undisturbed", "1.19 of the bound", "cannot be"}))
      << testing::PrintToString(out);
}

TEST(compare_text, of_long_tasks_says_when_the_graph_is_done_and_never_0_tasks_a_second) {
  experiment_result r;
  r.rows.push_back(row_of("rws", "none"));
  r.rows[0].throughput_per_s = 0.01234;
  r.rows[0].makespan_s = 8100.0;
  r.rows[0].ratio_to_bound = 0.5;
  const std::string text = text_of(two_cores(), r);
  EXPECT_NE(text.find(" 0.0123 "), std::string::npos) << text;
  EXPECT_NE(text.find("makespan"), std::string::npos) << text;
  EXPECT_NE(text.find("8100 s"), std::string::npos) << text;
  r.rows[0].throughput_per_s = 12345.6;
  EXPECT_NE(text_of(two_cores(), r).find(" 12346 "), std::string::npos);
}

// The bound counts with the mean of a noise that a run of few tasks may not meet; no loop was
// measured there.
TEST(evidence, a_short_simulated_run_is_told_to_have_met_less_noise) {
  specification a;
  a.on = read_engine("--on", "sim:haswell-16");
  a.work = make_workload("layered", {{"tasks", "20"}});
  a.policy_lists = read_policies({"rws", "dam-p"});
  a.disturb = test::scenarios({"cpu@0"});
  a.details = false;
  const experiment e = plan(a);
  experiment_result r;
  for (const char* disturb : {"none", "cpu@0"}) {
    r.rows.push_back(row_of("dam-p", disturb));
    r.rows.back().makespan_s = 0.008;
    r.rows.back().ratio_to_bound = 1.0;
  }
  EXPECT_TRUE(where_the_bound_fails(e, r).empty());
  r.rows[1].ratio_to_bound = 1.1;
  const auto out = evidence_of(e, r);
  EXPECT_TRUE(some(out, {"With cpu@0", "1.10 of the bound", "the mean of what tasks take",
                         "a run of 8.00 ms may meet less of their noise"}))
      << testing::PrintToString(out);
  EXPECT_FALSE(some(out, {"cannot be"})) << testing::PrintToString(out);
  EXPECT_NE(text_of(e, r).find(" 1.10!"), std::string::npos);
}

TEST(evidence, say_when_a_core_was_left_and_by_which_samples) {
  const auto out = evidence_of(two_cores(), learned(false));
  EXPECT_TRUE(
      some(out, {"dam-c, cpu@0", "50.0 ms", "core 0 was avoided", "16.0 us after its first sample",
                 "33.0 us after 2", "slowdown 2.05", "core 1 16.5 us"}))
      << testing::PrintToString(out);
}

TEST(evidence, do_not_claim_a_departure_that_did_not_last) {
  const auto out = evidence_of(two_cores(), learned(true));
  EXPECT_TRUE(some(out, {"never left core 0"})) << testing::PrintToString(out);
}

TEST(evidence, of_a_core_that_was_never_used_cite_no_samples) {
  experiment_result r = learned(false);
  std::erase_if(r.details[0].events, [](const trace::event& e) {
    return e.kind == trace::event_kind::decision && e.leader == 0;
  });
  const auto out = evidence_of(two_cores(), r);
  EXPECT_TRUE(some(out, {"stayed off core 0 from the first one on", "all but 0 of 150"}))
      << testing::PrintToString(out);
}

TEST(evidence, compare_the_share_on_the_disturbed_core_with_and_without) {
  experiment_result r;
  const auto add = [&](const char* disturb, std::uint64_t on_0, std::uint64_t on_1) {
    run_row row{.policy = "dam-c", .disturb = disturb};
    row.stats.seconds = row.throughput_per_s = 1.0;
    row.stats.places = {{on_0, 0}, {on_1, 0}, {0, 0}};
    r.runs.push_back(row);
  };
  add("none", 50, 50);
  add("cpu@0", 3, 97);
  r.rows = rows_of(two_cores(), r);
  EXPECT_TRUE(
      some(evidence_of(two_cores(), r),
           {"core 0", "dam-c 50 % -> 3 %. So dam-c alone keeps what others wait for away"}));
  r.runs.back().stats.places = {{30, 0}, {70, 0}, {0, 0}};
  r.rows = rows_of(two_cores(), r);
  EXPECT_TRUE(some(evidence_of(two_cores(), r), {"50 % -> 30 %. So no policy keeps"}));
}

TEST(evidence, say_whether_the_co_runner_paid_for_a_lead) {
  experiment_result r;
  for (const double progress : {0.5, 0.55})
    r.runs.push_back({.policy = "dam-c",
                      .disturb = "cpu@0",
                      .achieved_share = 0.5,
                      .disturber_progress = progress});
  EXPECT_TRUE(some(evidence_of(two_cores(), r), {"50 to 55 %", "So no policy won at its cost."}));
  r.runs.back().disturber_progress = 0.7;
  EXPECT_TRUE(some(evidence_of(two_cores(), r), {"50 to 70 %", "So look at who won at its cost"}));
}

TEST(evidence, of_nothing_are_none) { EXPECT_TRUE(evidence_of(two_cores(), {}).empty()); }

}  // namespace
}  // namespace kilter::lab
