// Native evidence: what an experiment file may ask for, what events say, how it is judged and
// shown. No test looks at a measured time.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>
#include <string>

#include "base/file_text.hpp"
#include "claims/native_runs.hpp"
#include "claims/reproduction.hpp"
#include "kilter/error.hpp"
#include "presenting/reproduce_json.hpp"
#include "presenting/reproduce_text.hpp"

namespace kilter::lab {
namespace {

const std::string opening = R"(schema = "kilter.experiment/1"
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
disturb = "cpu@0"

)";
const std::string native = R"([[native]]
name = "kmeans"
program = "kmeans"
size = "small"
block = 5000
iterations = 4
policies = ["rws", "dam-p"]
disturb = "cpu@0@25%..75%"
repeats = 3

)";
const std::string two_claims = R"([[claim]]
id = "S0-1"
source = "none"
statement = "dam-c is faster than rws"

[[claim.case]]
of = { measure = "throughput", policy = "dam-c" }
per = { policy = "rws" }
relation = "gt"
reference = 1.0
margin = 0.01
reason = "an order"

[[claim.native]]
of = { measure = "iteration_time", policy = "dam-p" }
per = { policy = "rws" }
relation = "lt"
reference = 1.0
margin = 0.01
reason = "an order"

[[claim.native]]
of = { measure = "critical_share", policy = "dam-p", core = 0 }
relation = "lt"
reference = 0.5
margin = 0.01
reason = "an order"

[[claim]]
id = "S0-2"
source = "none"
statement = "rws is faster than dam-c"

[[claim.case]]
of = { measure = "throughput", policy = "rws" }
per = { policy = "dam-c" }
relation = "gt"
reference = 1.0
margin = 0.01
reason = "an order"
)";

experiment_file whole_file() {
  return parse_experiment(opening + native + two_claims, "small.toml");
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const auto at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

TEST(native_scenario, is_read_beside_the_simulated_ones) {
  const experiment_file f = whole_file();
  ASSERT_EQ(f.natives.size(), 1u);
  EXPECT_TRUE(f.natives[0].natively());
  EXPECT_FALSE(f.scenarios[0].natively());
  EXPECT_EQ(f.natives[0].seeds, 3u);
  EXPECT_EQ(f.natives[0].find_axis("policy")->values, (std::vector<std::string>{"rws", "dam-p"}));
  ASSERT_EQ(f.claims[0].native.size(), 2u);
  EXPECT_EQ(name_of(f.claims[0].native[0].of),
            "iteration_time disturb=cpu@0@25%..75% policy=dam-p scenario=kmeans per policy=rws");
  EXPECT_EQ(f.claims[0].cases.size(), 1u) << "native cases are no cases of the simulated verdict";
  EXPECT_TRUE(f.claims[1].native.empty());
}

TEST(native_scenario, what_cannot_be_run_is_refused_with_its_line) {
  const auto refused = [](const std::string& what, const std::string& by) -> std::string {
    try {
      (void)parse_experiment(replaced(opening + native + two_claims, what, by), "small.toml");
    } catch (const input_error& e) {
      return e.what();
    }
    return "read";
  };
  const struct {
    std::string what, by, says;
  } wrong[] = {
      {R"(program = "kmeans")", R"(program = "kmaens")", "small.toml:19: unknown program 'kmaens'"},
      {R"(size = "small")", R"(size = "tiny")", "small.toml:20: unknown size 'tiny'"},
      {"block = 5000", "block = 0", "small.toml:21: 'block' is '0'"},
      {"iterations = 4\n", "", "small.toml:17: [[native]] lacks 'iterations'"},
      {"block = 5000", "tile = 64", "small.toml:21: "},
      {"block = 5000", "seeds = 10", "small.toml:21: "},
      {R"("cpu@0@25%..75%")", R"("cpu@")", "small.toml:24: "},
      {"repeats = 3", "repeats = 2", "small.toml:25: 'repeats' is 2"},
      {R"(["rws", "dam-p"])", R"(["rws", "dam-x"])", "small.toml:23: unknown policy 'dam-x'"},
      {R"("iteration_time", policy = "dam-p")", R"("iteration_time", policy = "dam-c")",
       "small.toml:41: unknown policy of scenario 'kmeans' 'dam-c'"},
      {R"("iteration_time", policy = "dam-p")", R"("beyond_cache_share", policy = "dam-p")",
       "small.toml:41: beyond_cache_share is not measured natively"},
      {R"("iteration_time", policy = "dam-p")", R"("places", cores = 2)",
       "small.toml:41: places is not measured natively"},
      {"[[claim]]\nid = \"S0-1\"",
       "[[native]]\nname = \"kmeans\"\nprogram = \"vgg16\"\npictures = 1\nsize = "
       "\"small\"\npolicies = \"rws\"\n\n[[claim]]\nid = \"S0-1\"",
       "scenario 'kmeans' is described twice"},
  };
  for (const auto& [what, by, says] : wrong) {
    const std::string said = refused(what, by);
    EXPECT_NE(said.find(says), std::string::npos) << by << ": " << said;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  }
  const std::string graph = R"([[native]]
name = "graph"
program = "graph"
graph = "rnadom:tasks=20"
policies = "rws"

)";
  try {
    (void)parse_experiment(opening + graph + two_claims, "small.toml");
    FAIL() << "read";
  } catch (const input_error& e) {
    EXPECT_NE(std::string(e.what()).find("small.toml:20: "), std::string::npos) << e.what();
  }
}

trace::event task_event(std::uint32_t task, std::uint16_t type, std::int64_t start_ns,
                        std::int64_t end_ns, core_id leader, std::uint16_t width, bool critical) {
  trace::event e;
  e.task = task;
  e.type = type;
  e.start_ns = start_ns;
  e.end_ns = end_ns;
  e.core = e.leader = leader;
  e.width = width;
  e.flags = critical ? trace::event_flag::critical : 0;
  return e;
}

TEST(records_of, counts_each_execution_once_and_tells_its_iteration) {
  const machine two = machine::uniform(2);
  // Type 1 hands out iterations at 100 and 500; task 2 is wide, and its members began apart.
  std::vector<trace::event> events{
      task_event(0, 1, 100, 480, 0, 1, true),  task_event(1, 0, 150, 250, 0, 1, true),
      task_event(2, 0, 160, 300, 0, 2, false), task_event(2, 0, 170, 320, 0, 2, false),
      task_event(3, 1, 500, 900, 0, 1, true),  task_event(4, 0, 510, 610, 1, 1, false)};
  events.push_back(task_event(9, 0, 0, 1, 0, 1, false));
  events.back().kind = trace::event_kind::park;
  const auto records = records_of(events, two, std::uint16_t{1}, 50);
  ASSERT_EQ(records.size(), 3u) << "what hands out iterations is no task of them";
  EXPECT_DOUBLE_EQ(records[0].start_s, 100e-9);
  EXPECT_TRUE(records[0].critical);
  EXPECT_DOUBLE_EQ(records[1].start_s, 110e-9);
  EXPECT_DOUBLE_EQ(records[1].end_s, 270e-9);
  EXPECT_EQ(two.at(records[1].where).width, 2u);
  EXPECT_EQ(records[0].iteration, 0u);
  EXPECT_EQ(records[2].iteration, 1u);
  EXPECT_EQ(two.at(records[2].where).leader, 1u);
  const auto all = records_of(events, two, {}, 0);
  ASSERT_EQ(all.size(), 5u) << "nothing hands out iterations";
  for (const task_record& r : all) EXPECT_EQ(r.iteration, 0u);
}

TEST(observed, takes_its_measures_of_records) {
  const auto two = std::make_shared<const machine>(machine::uniform(2));
  observed o(two, presence_times({{1.0, 3.0}}));
  const place_id zero = two->find({0, 1}).value(), one = two->find({1, 1}).value(),
                 both = two->find({0, 2}).value();
  o.add({.start_s = 0.5, .end_s = 0.9, .where = zero, .critical = true, .iteration = 0});
  o.add({.start_s = 1.5, .end_s = 1.9, .where = one, .critical = true, .iteration = 1});
  o.add({.start_s = 1.6, .end_s = 2.5, .where = both, .iteration = 1});
  o.add({.start_s = 3.5, .end_s = 3.6, .where = zero, .critical = true, .iteration = 2});
  execution_stats stats;
  stats.seconds = 4.0;
  stats.tasks = 4;
  o.finish(stats, {});
  EXPECT_EQ(o.value("critical_share", {{"core", "0"}, {"when", "during"}}), 0.0);
  EXPECT_EQ(o.value("critical_share", {{"core", "0"}, {"when", "after"}}), 1.0);
  EXPECT_EQ(o.value("other_share", {{"core", "0"}, {"when", "during"}}), 1.0)
      << "a member of its place is there";
  EXPECT_EQ(o.value("iteration_time", {{"when", "during"}}), 1.0);
  EXPECT_EQ(o.value("task_share", {{"width", "2"}}), 0.25);
  EXPECT_EQ(o.value("throughput", {}), 1.0);
}

/// `time_ratio` of dam-p over rws.
native_result judged_with(double time_ratio) {
  native_result r = judge_native(whole_file().claims[0], [&](const cell& c) {
    if (c.measure == "critical_share") return std::vector{0.1, 0.2};
    return c.run.at("policy") == "rws" ? std::vector{2.0, 4.0}
                                       : std::vector{2.0 * time_ratio, 4.0 * time_ratio};
  });
  r.measured = "some day, some machine";
  r.scenarios = native_scenarios_behind(whole_file(), whole_file().claims[0]);
  return r;
}

std::vector<claim_result> results_with(std::optional<native_result> measured) {
  claim_result one, two;
  one.id = "S0-1";
  one.statement = "dam-c is faster than rws";
  one.native = std::move(measured);
  two.id = "S0-2";
  two.by = decided_by::hardware;
  two.said = verdict::needs_hardware;
  return {one, two};
}

TEST(judge_native, decides_by_the_native_cases_alone) {
  EXPECT_EQ(judged_with(0.5).said, verdict::direction)
      << "there are no native values, so there is no more than a direction";
  EXPECT_EQ(judged_with(0.5).repeats, 2u);
  EXPECT_EQ(judged_with(1.0).said, verdict::differs);
  EXPECT_FALSE(judged_with(1.0).cases[0].held);
  EXPECT_TRUE(judged_with(1.0).cases[1].held);
}

TEST(native_verdict, is_a_column_beside_the_simulated_one_and_stands_in_the_document) {
  const auto with = results_with(judged_with(1.0)), without = results_with({});
  const std::string text = verdicts_text(with, false);
  EXPECT_NE(text.find("claim  simulated      native"), std::string::npos) << text;
  EXPECT_NE(text.find("S0-1   differs        differs"), std::string::npos) << text;
  EXPECT_NE(text.find("S0-2   needs-hardware -"), std::string::npos) << text;
  EXPECT_NE(text.find("1 of 2 cases hold natively, 2 repeats (some day, some machine)"),
            std::string::npos)
      << text;
  EXPECT_EQ(verdicts_text(without, false).find("native"), std::string::npos);

  const auto document = to_json(with);
  EXPECT_EQ(document["claims"][0]["native"]["verdict"], "differs");
  EXPECT_EQ(document["claims"][0]["native"]["repeats"], 2);
  EXPECT_EQ(document["claims"][0]["native"]["cases"].size(), 2u);
  EXPECT_FALSE(document["claims"][1].contains("native"));
  EXPECT_TRUE(recompute(document).empty());
  auto forged = document;
  forged["claims"][0]["native"]["verdict"] = "direction";
  EXPECT_EQ(recompute(forged).size(), 1u);
}

TEST(add_recorded, shows_what_was_measured_if_the_cases_are_still_the_same) {
  const auto recorded = to_json(results_with(judged_with(0.5)));
  auto results = results_with({});
  add_recorded(results, {whole_file()}, recorded);
  ASSERT_TRUE(results[0].native);
  EXPECT_EQ(results[0].native->said, verdict::direction);
  EXPECT_EQ(results[0].native->measured, "some day, some machine");
  EXPECT_EQ(to_json(results).dump(), recorded.dump());

  auto fresh = results_with(judged_with(1.0));
  add_recorded(fresh, {whole_file()}, recorded);
  EXPECT_EQ(fresh[0].native->said, verdict::differs) << "what was measured now stays";

  auto other = results_with({});
  const auto stricter =
      parse_experiment(replaced(opening + native + two_claims, "relation = \"lt\"\nreference = 1.0",
                                "relation = \"lt\"\nreference = 0.9"),
                       "small.toml");
  add_recorded(other, {stricter}, recorded);
  EXPECT_FALSE(other[0].native) << "the file asks for something else by now";
  EXPECT_THROW(add_recorded(other, {stricter}, {{"schema", "kilter.reproduce/1"}}), input_error);
  EXPECT_THROW(add_recorded(other, {stricter}, {{"schema", "kilter.other/1"}}), input_error);

  const auto shorter = parse_experiment(
      replaced(opening + native + two_claims, "iterations = 4", "iterations = 3"), "small.toml");
  add_recorded(other, {shorter}, recorded);
  EXPECT_FALSE(other[0].native) << "of the same case, and of another program";

  const nlohmann::ordered_json kept = {
      {"schema", recorded["schema"]},
      {"claims", {{{"id", "S0-1"}, {"native", recorded["claims"][0]["native"]}}}}};
  add_recorded(other, {whole_file()}, kept);
  EXPECT_TRUE(other[0].native) << "nothing else is needed to keep it";
}

// Measured again whenever a native case changes; nothing here looks at what came out.
TEST(recorded_evidence, is_of_the_cases_as_the_files_have_them) {
  const std::string path = experiments_directory() + "/native.json";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "nothing was measured yet";
  const auto files = read_experiments(experiments_directory());
  const auto recorded = nlohmann::ordered_json::parse(file_text(path, "native evidence", 16));
  std::vector<claim_result> results;
  for (const experiment_file& f : files)
    for (const claim& c : f.claims)
      if (!c.native.empty()) results.emplace_back().id = c.id;
  add_recorded(results, files, recorded);
  for (const claim_result& r : results) EXPECT_TRUE(r.native) << r.id;
}

TEST(native_runs, are_made_judged_and_shown) {
  reproduction work({whole_file()}, {.natively = true});
  const std::vector<std::string> ids{"S0-1", "S0-2"};
  EXPECT_EQ(work.steps(ids), 2u + 2u * 3u) << "two simulated policies, two native ones three times";
  progress silent(6, true);
  const auto results = work.run(ids, silent).claims;
  ASSERT_EQ(results.size(), 2u);
  ASSERT_TRUE(results[0].native);
  EXPECT_FALSE(results[1].native);
  EXPECT_EQ(results[0].native->repeats, 3u);
  EXPECT_EQ(results[0].native->scenarios,
            (std::vector<std::string>{"kmeans: kmeans block=5000 iterations=4 size=small"}));
  ASSERT_EQ(results[0].native->cases.size(), 2u);
  for (const case_result& c : results[0].native->cases)
    EXPECT_TRUE(std::isfinite(c.got.obtained)) << c.name;
  EXPECT_NE(results[0].native->measured.find("cores"), std::string::npos);
  EXPECT_TRUE(recompute(to_json(results)).empty());
}

TEST(run_natively, runs_every_program_and_sees_its_iterations) {
  progress silent(0, true);
  const auto run_one = [&](const std::string& program) {
    const experiment_file f = parse_experiment(
        opening + "[[native]]\nname = \"here\"\npolicies = \"dam-c\"\nrepeats = 3\n" + program +
            "\n" +
            replaced(two_claims, R"([[claim.native]]
of = { measure = "iteration_time", policy = "dam-p" }
per = { policy = "rws" }
relation = "lt"
reference = 1.0
margin = 0.01
reason = "an order"

[[claim.native]]
of = { measure = "critical_share", policy = "dam-p", core = 0 }
relation = "lt"
reference = 0.5
margin = 0.01
reason = "an order"
)",
                     ""),
        "small.toml");
    const selection run{{"scenario", "here"}, {"policy", "dam-c"}, {"disturb", "none"}};
    return run_natively(f.natives[0], {run}, silent).at(run).at(0);
  };
  const auto tasks_of = [](const observed& o, const char* iteration) {
    return o.value("task_count", {{"width", "1"}, {"iteration", iteration}}) +
           o.value("task_count", {{"width", "2"}, {"iteration", iteration}});
  };
  const observed vgg = run_one(
      "program = \"vgg16\"\nsize = \"small\"\npictures = 2\nblock_length = 64\nworkers = 2\n");
  EXPECT_GT(tasks_of(vgg, "1"), 0.0);
  EXPECT_EQ(tasks_of(vgg, "1"), tasks_of(vgg, "2"));
  const observed kmeans = run_one(
      "program = \"kmeans\"\nsize = \"small\"\nblock = 5000\niterations = 2\nworkers = 2\n");
  EXPECT_EQ(tasks_of(kmeans, "1"), 4.0);
  EXPECT_EQ(tasks_of(kmeans, "2"), 4.0);
  const observed graph = run_one(
      "program = \"graph\"\ngraph = \"random:tasks=40,width=4,rate=0.1,seconds=0.0001\"\nworkers = "
      "2\n");
  EXPECT_DOUBLE_EQ(graph.value("throughput", {}) * graph.value("makespan", {}), 40.0);
}

}  // namespace
}  // namespace kilter::lab
