// From runs to measures, and from an experiment file to a verdict.
#include "lab/reproduction.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kilter/error.hpp"
#include "lab/properties.hpp"
#include "lab/reproduce_json.hpp"

namespace kilter::lab {
namespace {

sim::disturbance from_to(double from_s, double to_s) {
  sim::disturbance d;
  d.cores = {0};
  d.from_s = from_s;
  d.to_s = to_s;
  return d;
}

TEST(presence_times, tell_the_parts_of_a_run) {
  const presence_times none({}), window({from_to(2, 5)}), always({from_to(0, -1)}), two({from_to(1, 2), from_to(4, 5)});
  EXPECT_EQ(none.at(0.0), run_part::before);
  EXPECT_EQ(window.at(1.9), run_part::before);
  EXPECT_EQ(window.at(2.0), run_part::during);
  EXPECT_EQ(window.at(5.0), run_part::after);
  EXPECT_EQ(always.at(100.0), run_part::during);
  EXPECT_EQ(two.at(3.0), run_part::between);
  sim::disturbance wave = from_to(0, -1);
  wave.what = sim::disturbance::kind::clock;
  wave.half_period_s = 5;
  const presence_times waves({wave});
  EXPECT_EQ(waves.at(4.9), run_part::before);
  EXPECT_EQ(waves.at(5.1), run_part::during);
  EXPECT_EQ(waves.at(10.1), run_part::between);
}

TEST(property_value, computes_what_the_papers_state) {
  EXPECT_NEAR(property_value("graph_critical_share", {{"tasks", "32000"}, {"parallelism", "2"}}), 0.5, 1e-3);
  EXPECT_EQ(property_value("samples_to_cross", {{"weight", "1/5"}}), 4);
  EXPECT_EQ(property_value("places", {{"cores", "8"}}), 15);
  EXPECT_EQ(property_value("example_longest_path", {}), 5);
  EXPECT_NEAR(property_value("example_parallelism", {}), 1.4, 1e-12);
  EXPECT_EQ(property_value("example_placements", {}), 7);
  EXPECT_THROW((void)property_value("places", {}), input_error);
}

TEST(chosen_claims, by_id_by_paper_or_all) {
  const auto files = read_experiments(experiments_directory());
  EXPECT_EQ(chosen_claims(files, {"S2-13", "S0-6"}), (std::vector<std::string>{"S0-6", "S2-13"}));
  const auto s0 = chosen_claims(files, {"S0"}), all = chosen_claims(files, {"all"});
  EXPECT_TRUE(std::ranges::all_of(s0, [](const std::string& id) { return id.starts_with("S0-"); }));
  EXPECT_LT(s0.size(), all.size());
  EXPECT_THROW((void)chosen_claims(files, {"S0-99"}), input_error);
}

constexpr const char* small = R"(schema = "kilter.experiment/1"
name = "small"
title = "a co-runner on the first core"
source = "none"

[[scenario]]
name = "chain"
platform = "grid:1x2"
workload = "layered"
kernel = "matmul"
tile = 64
tasks = 400
parallelism = 2
policies = ["rws", "dam-c"]
table = "paper"
disturb = "cpu@0"
seeds = 10

[[claim]]
id = "S0-1"
source = "none"
statement = "dam-c is faster than rws, and keeps critical tasks off the core"

[[claim.case]]
of = { measure = "throughput", policy = "dam-c" }
per = { policy = "rws" }
relation = "gt"
reference = 1.0
margin = 0.01
reason = "an order"

[[claim.case]]
of = { measure = "critical_share", policy = "dam-c", core = 0 }
relation = "lt"
reference = 0.5
margin = 0.01
reason = "less than by chance"

[[claim]]
id = "S0-2"
source = "none"
statement = "rws is faster than dam-c, which is not so"

[[claim.case]]
of = { measure = "throughput", policy = "rws" }
per = { policy = "dam-c" }
relation = "gt"
reference = 1.0
margin = 0.01
reason = "an order"
)";

TEST(reproduction, runs_each_seed_once_and_judges_by_the_numbers) {
  reproduction r({parse_experiment(small, "small.toml")});
  const std::vector<std::string> ids{"S0-1", "S0-2"};
  EXPECT_EQ(r.steps(ids), 2u) << "two policies, whatever the number of claims";
  progress silent(2, true);
  const auto results = r.run(ids, silent).claims;
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].said, verdict::direction);
  EXPECT_EQ(results[0].seeds, 10u);
  EXPECT_EQ(results[0].command, "kilter reproduce S0-1");
  EXPECT_EQ(results[1].said, verdict::differs);
  EXPECT_TRUE(recompute(to_json(results)).empty()) << "a verdict follows from its numbers";
  reproduction again({parse_experiment(small, "small.toml")});
  EXPECT_EQ(to_json(again.run(ids, silent).claims).dump(), to_json(results).dump()) << "the same bytes every time";
}

}  // namespace
}  // namespace kilter::lab
