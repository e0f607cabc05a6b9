// JSON has no infinity and no NaN; a reader that meets one, or a null that nobody promised, stops.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <utility>

#include "kilter/error.hpp"
#include "presenting/columns.hpp"
#include "presenting/compare_json.hpp"
#include "unit/lab/experiments.hpp"

namespace kilter::lab {
namespace {

constexpr double endless = std::numeric_limits<double>::infinity(),
                 none = std::numeric_limits<double>::quiet_NaN();

/// Where the document holds a number that JSON has not.
void expect_finite(const document& d, const std::string& where) {
  if (d.is_number_float()) {
    EXPECT_TRUE(std::isfinite(d.get<double>())) << where;
  }
  if (d.is_structured())
    for (const auto& [key, value] : d.items()) expect_finite(value, where + "/" + key);
}

TEST(finite, what_cannot_be_told_is_null) {
  EXPECT_EQ(finite_or_null(endless), nullptr);
  EXPECT_EQ(finite_or_null(none), nullptr);
  EXPECT_EQ(finite_or_null(0.5), 0.5);
  EXPECT_EQ(finite_or_null(std::vector<double>{1.0, endless}), (document{1.0, nullptr}));

  specification a;
  a.on = read_engine("--on", "sim:grid:1x2");
  const experiment e = plan(a);
  experiment_result r;
  run_row run{.policy = "auto", .disturb = "none"};
  run.throughput_per_s = endless;
  run.bound_s = none;
  run.achieved_share = run.disturber_progress = none;
  run.energy_j = endless;
  r.runs = {run};
  result_row row{.graph = "g", .on = "native", .disturb = "none", .policy = "auto"};
  row.throughput_per_s = row.ratio_to_bound = row.critical_part = row.bound_s = row.makespan_s =
      row.least_s = row.most_s = row.slr = row.speedup = row.efficiency = endless;
  row.ratio_to_rws = row.ratio_to_rws_min = row.ratio_to_rws_max = row.energy_j = row.edp_js =
      row.plan_s = none;
  r.rows = {row};
  r.rates = {
      {"none", 0, {{.after = false, .alone_per_s = {endless, 1.0}, .together_per_s = {none}}}}};
  const document d = to_document(test::outcome_of(e, r), {});
  expect_finite(d, "compare");
  EXPECT_EQ(d["experiments"][0]["runs"][0]["bound_s"], nullptr);
  for (const auto& [column, value] : d["rows"][0].items())
    EXPECT_TRUE(!value.is_number_float() || column == "scale")
        << column << ": make it endless above";
}

TEST(finite, graphs_at_the_edge_give_numbers) {
  const auto file = [](const std::string& name, const std::string& content) {
    const std::string path = testing::TempDir() + name;
    std::ofstream(path) << content;
    return path;
  };
  const std::string
      timeless = file(
          "timeless.json",
          R"({"schema":"kilter.graph/1","tasks":[{"id":"1","seconds":0},{"id":"2","seconds":1e-300},{"id":"3","seconds":0}],"edges":[["1","2"],["2","3"]]})"),
      ideal = file(
          "ideal.json",
          R"({"schema":"kilter.graph/1","processors":["p","q"],"tasks":[{"id":"1","on":[0,1e-12]},{"id":"2","on":[0,0]}],"edges":[["1","2",0]]})"),
      tiny = file(
          "tiny.json",
          R"({"schema":"kilter.graph/1","processors":["p","q"],"tasks":[{"id":"1","on":[1e-300,1e-300]}],"edges":[]})"),
      large = file("large.json",
                   R"({"schema":"kilter.graph/1","tasks":[{"id":"1","seconds":1e5}],"edges":[]})");
  struct question {
    std::string graph, on, scale;
  };
  for (const question& q :
       {question{timeless, "sim:jetson-tx2", "1"}, question{timeless, "sim:jetson-tx2", "1e-12"},
        question{ideal, "ideal", "1"}, question{tiny, "ideal", "1e-12"},
        question{large, "sim:grid:1x2", "1"}}) {
    compare_specification a;
    a.graphs = {q.graph};
    a.on = {read_engine("--on", q.on)};
    a.scale = q.scale;
    a.common.policy_lists = read_policies({"auto,heft"});
    a.common.repeats = 1;
    std::vector<experiment> all;
    try {
      all = plan(a);
    } catch (const input_error&) {
      continue;  // refused before anything runs is an answer too
    }
    const document d = to_document(test::compared(std::move(all)), {});
    EXPECT_FALSE(d["rows"].empty()) << q.graph;
    expect_finite(d, q.graph + " on " + q.on);
    for (const document& row : d["rows"]) {
      EXPECT_TRUE(row["makespan_s"].is_number()) << q.graph;
      EXPECT_TRUE(row["bound_s"].is_number()) << q.graph;
    }
  }
}

}  // namespace
}  // namespace kilter::lab
