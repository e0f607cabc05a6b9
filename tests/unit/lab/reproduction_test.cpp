// From runs to measures, and from an experiment file to a verdict.
#include "claims/reproduction.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "claims/flips.hpp"
#include "claims/properties.hpp"
#include "claims/readings.hpp"
#include "claims/task_measures.hpp"
#include "kilter/error.hpp"
#include "measuring/measurement.hpp"
#include "measuring/presets.hpp"
#include "presenting/reproduce_json.hpp"
#include "presenting/reproduce_text.hpp"
#include "unit/lab/experiments.hpp"

namespace kilter::lab {
namespace {

TEST(presence_times, tell_the_parts_of_a_run) {
  const presence_times none({}), window({{2, 5}}), always({{0, -1}}), two({{1, 2}, {4, 5}});
  EXPECT_EQ(none.at(0.0), run_part::before);
  EXPECT_EQ(window.at(1.9), run_part::before);
  EXPECT_EQ(window.at(2.0), run_part::during);
  EXPECT_EQ(window.at(5.0), run_part::after);
  EXPECT_EQ(always.at(100.0), run_part::during);
  EXPECT_EQ(two.at(3.0), run_part::between);
  const presence_times waves({{0, -1, 5}});
  EXPECT_EQ(waves.at(4.9), run_part::before);
  EXPECT_EQ(waves.at(5.1), run_part::during);
  EXPECT_EQ(waves.at(10.1), run_part::between);
}

TEST(property_value, computes_what_the_papers_state) {
  EXPECT_NEAR(property_value("graph_critical_share", {{"tasks", "32000"}, {"parallelism", "2"}}),
              0.5, 1e-3);
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
on = "sim:grid:1x2"
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
  EXPECT_EQ(results[0].command, "kilter lab reproduce S0-1");
  EXPECT_EQ(results[1].said, verdict::differs);
  EXPECT_TRUE(recompute(to_json(results)).empty()) << "a verdict follows from its numbers";
  reproduction again({parse_experiment(small, "small.toml")});
  EXPECT_EQ(to_json(again.run(ids, silent).claims).dump(), to_json(results).dump())
      << "the same bytes every time";
}

// The way of `kilter compare`, which shares no measuring with the experiments: seed by seed, then
// mean and two standard deviations.
TEST(reproduction, a_verdicts_numbers_follow_from_the_raw_runs) {
  const auto run_of = [](const char* policy, int seed) {
    specification a;
    a.on = read_engine("--on", "sim:grid:1x2");
    a.work = make_workload(
        "layered", {{"kernel", "matmul"}, {"tile", "64"}, {"tasks", "400"}, {"parallelism", "2"}});
    a.policy_lists = read_policies({policy});
    a.table = table_mode::paper;
    a.disturb = test::scenarios({"cpu@0"});
    a.repeats = 1;
    a.seed = seed;
    a.details = false;
    progress silent(0, true);
    const auto measured = measurement::make(plan(a), silent);
    measured->run();
    return measured->result().runs.back();
  };
  const machine two = machine::uniform(2, 1);
  const auto share_on_0 = [&](const run_row& r) {
    double on_0 = 0.0, all = 0.0;
    for (place_id p = 0; p < r.stats.places.size(); ++p) {
      all += static_cast<double>(r.stats.places[p].critical);
      if (two.at(p).contains(0)) on_0 += static_cast<double>(r.stats.places[p].critical);
    }
    return on_0 / all;
  };
  // With several draws a seed's number is their mean, taken of each side before the sides are
  // compared.
  for (const int draws : {1, 3}) {
    std::vector<double> ratios, shares;
    for (int seed = 1; seed <= 10; ++seed) {
      double dam_per_s = 0.0, rws_per_s = 0.0, share = 0.0;
      for (int draw = 1; draw <= draws; ++draw) {
        const run_row dam = run_of("dam-c", (seed - 1) * draws + draw),
                      rws = run_of("rws", (seed - 1) * draws + draw);
        dam_per_s += dam.throughput_per_s;
        rws_per_s += rws.throughput_per_s;
        share += share_on_0(dam) / draws;
      }
      ratios.push_back(dam_per_s / rws_per_s);
      shares.push_back(share);
    }
    std::string text = small;
    const std::string table = "table = \"paper\"\n";
    text.insert(text.find(table) + table.size(), "draws = " + std::to_string(draws) + "\n");
    reproduction r({parse_experiment(text, "small.toml")});
    progress silent(2, true);
    const auto results = r.run({"S0-1"}, silent).claims;
    for (const auto& [values, got] :
         {std::pair{ratios, results[0].cases[0].got}, {shares, results[0].cases[1].got}}) {
      const double mean = std::accumulate(values.begin(), values.end(), 0.0) / 10.0;
      double squares = 0.0;
      for (const double v : values) squares += (v - mean) * (v - mean);
      EXPECT_NEAR(got.obtained, mean, 1e-9 * mean) << draws;
      EXPECT_NEAR(got.low, mean - 2 * std::sqrt(squares / 9), 1e-9 * mean) << draws;
      EXPECT_NEAR(got.high, mean + 2 * std::sqrt(squares / 9), 1e-9 * mean) << draws;
      EXPECT_GT(squares, 0.0) << "ten seeds are ten runs";
    }
  }
}

TEST(reproduction, another_reading_is_another_run_and_a_wrong_one_is_refused) {
  const std::vector<experiment_file> as_described{parse_experiment(small, "small.toml")};
  auto read = as_described;
  read_differently(read, "table=robust,timing=honest");
  EXPECT_EQ(read[0].scenarios[0].parameters.at("table"), "robust") << "whatever the file says";
  progress silent(4, true);
  const auto before = reproduction(as_described).run({"S0-1"}, silent).claims,
             after = reproduction(read).run({"S0-1"}, silent).claims;
  EXPECT_NE(before[0].cases[0].got.obtained, after[0].cases[0].got.obtained);
  const std::string text =
      readings_text({"as described", "table=robust,timing=honest"}, {before, after});
  for (const char* part : {"as described", "table=robust,timing=honest", "S0-1"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
  for (const char* wrong : {"tabel=robust", "table", "table=oak", "refresh=0", "workers=2"}) {
    auto files = as_described;
    EXPECT_THROW(read_differently(files, wrong), input_error) << wrong;
  }
}

TEST(preset_of, is_what_paper_code_or_kilter_say) {
  const auto value = [](const preset& p, std::string_view key) {
    const auto at =
        std::ranges::find(p, key, [](const auto& one) { return std::string_view(one.first); });
    return at == p.end() ? std::string() : at->second;
  };
  const std::vector<std::string> s0{"rws", "dam-c"}, s2{"rws", "perf"}, both{"perf", "dam-c"},
      none{"heft"};
  EXPECT_EQ(value(preset_of("published", s0), "timing"), "leader");
  EXPECT_EQ(value(preset_of("coded", s0), "direct"), "yes") << "X22";
  EXPECT_EQ(value(preset_of("coded", s2), "thieves"), "spare-two") << "X19";
  EXPECT_EQ(value(preset_of("kilter", none), "table"), "robust");
  EXPECT_THROW((void)preset_of("coded", both), input_error);
  EXPECT_THROW((void)preset_of("coded", none), input_error);
  EXPECT_THROW((void)preset_of("printed", s0), input_error);
  for (const std::string_view reading : readings)
    for (const auto& policies : {s0, s2})
      for (const auto& [key, text] : preset_of(reading, policies)) {
        specification s;
        EXPECT_NO_THROW(read_setting(s, key, text)) << reading << " " << key;
      }
}

TEST(read_as, changes_scenarios_by_their_policies_and_nothing_as_published) {
  const std::vector<experiment_file>& files = test::shipped();
  auto published = files, coded = files, ours = files;
  const known_readings known = read_readings(experiments_directory());
  read_as(published, "published", known);
  read_as(coded, "coded", known);
  read_as(ours, "kilter", known);
  for (std::size_t f = 0; f < files.size(); ++f)
    for (std::size_t i = 0; i < files[f].scenarios.size(); ++i) {
      const experiment_scenario &was = files[f].scenarios[i], &code = coded[f].scenarios[i];
      EXPECT_EQ(published[f].scenarios[i].parameters, was.parameters);
      if (was.runs() != run_kind::tasks) continue;
      const bool s2 = std::ranges::find(was.find_axis("policy")->values, "perf") !=
                      was.find_axis("policy")->values.end();
      EXPECT_EQ(code.parameters.at("children"), s2 ? "slow-cluster" : "queue")
          << files[f].name << " " << was.name;
      EXPECT_EQ(ours[f].scenarios[i].parameters.at("table"), "robust");
    }
  EXPECT_THROW(read_as(coded, "printed", known), input_error);
}

TEST(readings, that_are_shipped_are_each_about_some_scenario_of_their_papers) {
  const known_readings known = read_readings(experiments_directory());
  EXPECT_GT(known.one_by_one.size(), 20u);
  for (const other_reading& r : known.one_by_one) {
    auto read = test::shipped();
    ASSERT_NO_THROW(read_differently(read, r.set)) << r.set;
    for (const std::string& paper : r.papers) {
      const auto changed = [&](std::size_t f) {
        return !std::ranges::equal(read[f].scenarios, test::shipped()[f].scenarios, {},
                                   &experiment_scenario::parameters,
                                   &experiment_scenario::parameters);
      };
      bool some = false;
      const auto about = [&](const claim& c) {
        return c.id == paper || c.id.starts_with(paper + "-");
      };
      for (std::size_t f = 0; f < read.size(); ++f)
        some = some || (std::ranges::any_of(read[f].claims, about) && changed(f));
      EXPECT_TRUE(some) << r.set << " of " << paper;
    }
  }
}

TEST(flips, are_the_readings_under_which_a_verdict_is_another) {
  std::vector<experiment_file> files{parse_experiment(small, "small.toml")};
  known_readings known;
  for (const char* set : {"co_runner=fluid", "weight=1", "sides=fast"})
    known.one_by_one.push_back({set, {"S0"}, "none", "none"});
  known.one_by_one.push_back({"timing=span", {"S4"}, "none", "none"});
  known.one_by_one.push_back({"undisturbed=yes", {"S0-2"}, "none", "none"});
  flip_search search(files, known, {"S0-1"});
  progress silent(search.steps(), true);
  const auto found = search.run(silent);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].tried, 2u) << "sides are of threads, and S4 is another paper";
  const auto verdict_with = [&](const std::string& reading) {
    auto read = files;
    if (!reading.empty()) read_differently(read, reading);
    return reproduction(read).run({"S0-1"}, silent).claims[0].said;
  };
  EXPECT_EQ(found[0].published, verdict_with(""));
  for (const char* set : {"co_runner=fluid", "weight=1"}) {
    const bool flips = verdict_with(set) != found[0].published;
    EXPECT_EQ(std::ranges::count(found[0].by, set, &flipped::set), flips ? 1 : 0) << set;
  }
  EXPECT_NE(flips_text(found).find("S0-1"), std::string::npos);
  EXPECT_EQ(to_json(std::span<const claim_flips>(found))["claims"][0]["tried"], 2);
}

TEST(flips, leave_out_what_a_machine_refuses) {
  std::string apart = small;
  apart.replace(apart.find("[[scenario]]"), apart.find("[[claim]]") - apart.find("[[scenario]]"),
                R"([[scenario]]
name = "heat"
on = "sim:haswell-cluster"
workload = "heat"
rows = 2048
columns = 16384
ranks = 4
tasks_per_rank = 4
iterations = 2
nodes = "apart"
policies = ["rws", "dam-c"]
table = "paper"
disturb = "cpu@0"
seeds = 10

)");
  std::vector<experiment_file> files{parse_experiment(apart, "apart.toml")};
  known_readings known;
  for (const char* set : {"steal=richest", "weight=1"})
    known.one_by_one.push_back({set, {"S0"}, "none", "none"});
  EXPECT_THROW(
      {
        auto read = files;
        read_differently(read, "steal=richest");
        progress silent(100, true);
        (void)reproduction(read).run({"S0-1"}, silent);
      },
      input_error);
  flip_search search(files, known, {"S0-1"});
  progress silent(search.steps(), true);
  const auto found = search.run(silent);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].tried, 1u) << "the weight";
}

TEST(specification_of, has_the_words_of_the_scenario_and_the_value_of_each_axis) {
  experiment_scenario s;
  s.name = "small";
  s.on = read_engine("on", "sim:grid:1x2");
  s.workload = "layered";
  s.parameters = {{"kernel", "copy"}, {"table", "paper"}, {"direct", "yes"}, {"refresh", "40"}};
  const selection run{{"scenario", "small"}, {"policy", "dam-c"},  {"disturb", "cpu@0"},
                      {"weight", "2/7"},     {"parallelism", "3"}, {"workers", "1"}};
  const auto nothing_beside = [](const specification& of) {
    return std::ranges::all_of(of.disturb, [](const auto& parts) { return parts.empty(); });
  };
  s.parameters["undisturbed"] = "yes";
  EXPECT_TRUE(nothing_beside(specification_of(s, run, 7)));
  s.parameters["undisturbed"] = "no";
  EXPECT_FALSE(nothing_beside(specification_of(s, run, 7)));
  s.parameters.erase("undisturbed");
  const specification a = specification_of(s, run, 7);
  EXPECT_EQ(a.on.written, "sim:grid:1x2");
  EXPECT_EQ(a.seed, 7u);
  EXPECT_EQ(a.repeats, 1u);
  EXPECT_EQ(a.table, table_mode::paper);
  EXPECT_TRUE(a.direct);
  EXPECT_EQ(a.refresh.every, 40u);
  EXPECT_EQ(a.weight.value, 2.0 / 7.0);
  EXPECT_EQ(a.cores, "1");
  ASSERT_EQ(a.policy_lists.size(), 1u) << "the default is not one more";
  EXPECT_EQ(a.policy_lists[0].names, std::vector<std::string>{"dam-c"});
  ASSERT_EQ(a.disturb.size(), 1u);
  EXPECT_EQ(written(a.disturb[0]), "cpu@0");
  EXPECT_EQ(std::get<layered_work>(a.work).kernel, "copy");
  EXPECT_EQ(std::get<layered_work>(a.work).shape.parallelism, 3u);
}

TEST(task_runs_behind, an_efficiency_are_the_run_and_the_same_on_one_core) {
  const selection run{{"scenario", "small"}, {"workers", "4"}};
  selection alone = run;
  alone["workers"] = "1";
  EXPECT_EQ(task_runs_behind({"parallel_efficiency", run, {}}), (std::vector{run, alone}));
  EXPECT_EQ(task_runs_behind({"makespan", run, {}}), std::vector{run});
}

}  // namespace
}  // namespace kilter::lab
