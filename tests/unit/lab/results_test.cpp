// What runs come to: rows, documents, and the files that hold them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>
#include <utility>

#include "kilter/error.hpp"
#include "measuring/rows.hpp"
#include "presenting/columns.hpp"
#include "presenting/compare_json.hpp"
#include "presenting/result_trace.hpp"
#include "session/outputs.hpp"
#include "statistics/stats.hpp"
#include "trace/recorder.hpp"
#include "unit/lab/experiments.hpp"
#include "unit/support.hpp"

namespace kilter::lab {
namespace {

run_row run(const char* policy, std::uint32_t repeat, double seconds, std::uint32_t graph = 0) {
  run_row r{.policy = policy,
            .disturb = "none",
            .repeat = repeat,
            .graph = graph,
            .root_core = repeat % 2};
  r.stats.seconds = seconds;
  r.stats.tasks = 1000;
  r.throughput_per_s = 1000 / seconds;
  r.bound_s = 1.0;
  return r;
}

std::vector<result_row> rows_of_runs(std::vector<run_row> runs, std::vector<std::string> policies) {
  experiment e;
  e.machine = std::make_shared<const machine>(machine::uniform(2));
  e.policies = std::move(policies);
  e.scenarios = {{"none", {}}};
  experiment_result r;
  r.path_s = r.sequential_s = 1.0;
  r.runs = std::move(runs);
  return rows_of(e, r);
}

TEST(stats, median_of_none_one_even_and_odd) {
  EXPECT_TRUE(std::isnan(median({})));
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({4, 1}), 2.5);
  EXPECT_EQ(median({9, 1, 4}), 4);
  EXPECT_EQ(median({9, 1, 4, 5}), 4.5);
}

TEST(rows, rws_is_paired_by_repeat_so_that_drift_cancels) {
  // The machine halves its speed between the repeats; dam-c is 1.25 times rws in each.
  const auto lines = rows_of_runs(
      {run("rws", 0, 1.25), run("dam-c", 0, 1.0), run("rws", 1, 2.5), run("dam-c", 1, 2.0)},
      {"rws", "dam-c"});
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NEAR(*lines[1].ratio_to_rws, 1.25, 1e-12);
  EXPECT_NEAR(*lines[1].ratio_to_rws_min, 1.25, 1e-12);
  EXPECT_NEAR(*lines[1].ratio_to_rws_max, 1.25, 1e-12);
  EXPECT_NEAR(lines[1].ratio_to_bound, 0.75, 1e-12);
  EXPECT_EQ(lines[1].runs, 2u);
}

TEST(rows, without_rws_there_is_no_ratio) {
  const auto lines = rows_of_runs({run("dam-c", 0, 1.0)}, {"dam-c"});
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_FALSE(lines[0].ratio_to_rws.has_value());
}

TEST(rows, warm_runs_are_lines_of_their_own_and_meet_warm_rws) {
  const auto lines = rows_of_runs(
      {run("rws", 0, 1.0), run("rws", 0, 2.0, 1), run("dam-c", 0, 1.0), run("dam-c", 0, 1.0, 1)},
      {"rws", "dam-c"});
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_FALSE(lines[2].warm);
  EXPECT_NEAR(*lines[2].ratio_to_rws, 1.0, 1e-12);
  EXPECT_TRUE(lines[3].warm);
  EXPECT_NEAR(*lines[3].ratio_to_rws, 2.0, 1e-12);
}

TEST(rows, energy_is_a_median_and_absent_if_a_run_has_none) {
  auto a = run("rws", 0, 1.0), b = run("rws", 1, 2.0);
  a.energy_j = 10.0;
  EXPECT_FALSE(rows_of_runs({a, b}, {"rws"})[0].energy_j);
  b.energy_j = 30.0;
  const auto line = rows_of_runs({a, b}, {"rws"})[0];
  EXPECT_EQ(line.energy_j, 20.0);
  EXPECT_EQ(line.edp_js, 35.0) << "10 J s and 60 J s";
}

TEST(rows, every_column_has_a_value) {
  auto rws = run("rws", 0, 1.0, 1), other = run("dam-c", 0, 2.0, 1);
  for (run_row* r : {&rws, &other}) {
    r->energy_j = 10.0;
    r->stats.plan_s = 0.1;
    r->stats.places = {{10, 5}, {30, 5}};
  }
  const auto row = rows_of_runs({rws, other}, {"rws", "dam-c"})[1];
  for (const column& c : columns()) {
    const document value = c.value(row);
    EXPECT_TRUE(value.is_string()    ? value != ""
                : value.is_boolean() ? value == true
                                     : value > 0)
        << c.name << " is " << value;
  }
}

TEST(rows, an_interrupted_experiment_pairs_only_what_has_a_partner) {
  const auto lines = rows_of_runs({run("rws", 0, 1.0), run("dam-c", 0, 0.5), run("dam-c", 1, 0.1)},
                                  {"rws", "dam-c"});
  EXPECT_NEAR(*lines[1].ratio_to_rws_max, 2.0, 1e-12);
}

TEST(rows, critical_share_adds_up_over_runs_weighted_by_tasks) {
  auto a = run("dam-c", 0, 1.0), b = run("dam-c", 1, 1.0);
  a.stats.places = {{10, 5}, {30, 5}};
  b.stats.places = {{0, 5}, {60, 5}};
  const auto lines = rows_of_runs({a, b}, {"dam-c"});
  ASSERT_EQ(lines[0].critical_share.size(), 2u);
  EXPECT_NEAR(lines[0].critical_share[0].share, 0.1, 1e-12);
  EXPECT_NEAR(lines[0].critical_share[1].share, 0.9, 1e-12);
}

// JSON has no infinity and no NaN; a reader that meets one, or a null that nobody promised, stops.

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
  const kilter::test::scratch folder;
  const auto file = [&](const char* name, const std::string& tasks) {
    return folder.write(name, R"({"schema":"kilter.graph/1",)" + tasks);
  };
  const std::string
      timeless = file(
          "timeless.json",
          R"("tasks":[{"id":"1","seconds":0},{"id":"2","seconds":1e-300},{"id":"3","seconds":0}],"edges":[["1","2"],["2","3"]]})"),
      ideal = file(
          "ideal.json",
          R"("processors":["p","q"],"tasks":[{"id":"1","on":[0,1e-12]},{"id":"2","on":[0,0]}],"edges":[["1","2",0]]})"),
      tiny =
          file("tiny.json",
               R"("processors":["p","q"],"tasks":[{"id":"1","on":[1e-300,1e-300]}],"edges":[]})"),
      large = file("large.json", R"("tasks":[{"id":"1","seconds":1e5}],"edges":[]})");
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

detail traced(std::size_t tasks) {
  detail d{.policy = "dam-c", .disturb = "none"};
  d.types = {"matmul"};
  d.start_ns = 1'000'000;
  for (std::size_t i = 0; i < tasks; ++i) {
    trace::event e;
    e.start_ns = d.start_ns + static_cast<std::int64_t>(i) * 1000;
    e.end_ns = e.start_ns + 900;
    e.task = static_cast<std::uint32_t>(i);
    d.events.push_back(e);
    e.kind = trace::event_kind::table;
    e.value = 1e-6f;
    d.events.push_back(e);
  }
  return d;
}

TEST(result_trace, a_short_run_is_kept_whole) {
  const document d = detail_document(traced(100), 1);
  EXPECT_EQ(d["spans"].size(), 100u);
  EXPECT_EQ(d["table"].size(), 100u);
  EXPECT_EQ(d["spans"][1]["start_s"], 1e-6) << "seconds since the first task";
  EXPECT_EQ(d["spans"][0]["type"], "matmul");
}

TEST(result_trace, a_long_run_keeps_whole_stretches_from_the_start_to_the_end) {
  const document d = detail_document(traced(100'000), 1);
  EXPECT_EQ(d["spans_total"], 100'000u);
  EXPECT_LE(d["spans"].size(), most_spans);
  EXPECT_GE(d["spans"].size(), most_spans - 10);
  EXPECT_LE(d["table"].size(), most_table_rows + 1);
  EXPECT_EQ(d["spans"].front()["task"], 0u);
  EXPECT_EQ(d["spans"].back()["task"], 99'999u);
  EXPECT_EQ(d["table"].back()["t_s"], d["spans"].back()["end_s"])
      << "the last thing learned is kept";
  std::size_t gaps = 0;
  for (std::size_t i = 1; i < d["spans"].size(); ++i) {
    ASSERT_LT(d["spans"][i - 1]["task"], d["spans"][i]["task"]) << "no task twice";
    gaps += d["spans"][i]["task"] != d["spans"][i - 1]["task"].get<std::size_t>() + 1;
  }
  EXPECT_EQ(gaps + 1, d["span_windows"].size());
}

/// One task a core at a time, each as long as its core's number says, for `steps` microseconds.
detail on_cores(std::uint32_t cores, std::int64_t steps) {
  detail d{.policy = "rws", .disturb = "none"};
  d.types = {"matmul"};
  d.start_ns = 5'000;
  d.seconds = static_cast<double>(steps) * 1e-6;
  for (core_id c = 0; c < cores; ++c)
    for (std::int64_t at = 0; at + 3 * c + 1 <= steps; at += 3 * c + 1) {
      trace::event e;
      e.core = c;
      e.start_ns = d.start_ns + at * 1000;
      e.end_ns = e.start_ns + (3 * c + 1) * 1000;
      e.task = static_cast<std::uint32_t>(d.events.size());
      d.events.push_back(e);
    }
  return d;
}

// The cores are never idle here: at every moment each either runs a kept span or counts as not
// recorded, or the drawing shows idle time that was not.
TEST(result_trace, what_is_left_out_of_a_long_run_is_no_idle_time) {
  constexpr std::uint32_t cores = 4;
  const document d = detail_document(on_cores(cores, 20'000), cores);
  ASSERT_GT(d["span_windows"].size(), 1u);
  std::vector<std::vector<std::pair<double, double>>> known(cores);
  double unrecorded_s = 0.0;
  for (const document& s : d["spans"]) known[s["core"]].emplace_back(s["start_s"], s["end_s"]);
  for (const document& s : d["unrecorded"]) {
    known[s["core"]].emplace_back(s["from_s"], s["to_s"]);
    unrecorded_s += s["to_s"].get<double>() - s["from_s"].get<double>();
  }
  EXPECT_GT(unrecorded_s, 0.1 * cores * 20e-3);
  for (core_id c = 0; c < cores; ++c) {
    std::sort(known[c].begin(), known[c].end());
    double until_s = 0.0;
    for (const auto& [from_s, to_s] : known[c]) {
      EXPECT_NEAR(from_s, until_s, 1e-9) << "core " << c << ": idle, or drawn over a span";
      until_s = to_s;
    }
    EXPECT_GT(until_s, 20e-3 - 11e-6);
  }
}

TEST(result_trace, a_run_that_is_kept_whole_has_no_unrecorded_stretch) {
  EXPECT_TRUE(detail_document(on_cores(2, 100), 2)["unrecorded"].empty());
}

TEST(result_trace, a_core_whose_events_found_no_room_is_unrecorded_from_then_on) {
  detail d = on_cores(3, 100);
  d.dropped = 7;
  d.dropped_from_ns = {trace::recorder::never, d.start_ns + 40'000, trace::recorder::never};
  const document unrecorded = detail_document(d, 3)["unrecorded"];
  ASSERT_EQ(unrecorded.size(), 1u);
  EXPECT_EQ(unrecorded[0]["core"], 1);
  EXPECT_DOUBLE_EQ(unrecorded[0]["from_s"], 40e-6);
  EXPECT_DOUBLE_EQ(unrecorded[0]["to_s"], 100e-6);
}

TEST(result_trace, document_text_reads_back_to_the_same) {
  document d{{"a", 1},
             {"rows", {{{"x", 1}, {"s", "text \"quoted\""}}, {{"x", 2}}}},
             {"none", document::array()},
             {"list", {1, 2}}};
  EXPECT_EQ(document::parse(document_text(d)), d);
  EXPECT_EQ(document_text(document{{"rows", {{{"x", 1}}, {{"x", 2}}}}}),
            "{\n \"rows\": [\n  {\"x\":1},\n  {\"x\":2}\n ]\n}\n");
}

namespace fs = std::filesystem;
using kilter::test::contents_of;

class outputs : public testing::Test {
 protected:
  [[nodiscard]] std::string file(const char* name) const { return (folder.path() / name).string(); }
  kilter::test::scratch folder;
};

TEST_F(outputs, a_check_leaves_nothing_behind_and_changes_nothing) {
  check_output("--json", file("new.json"));
  EXPECT_FALSE(fs::exists(file("new.json")));
  folder.write("old.json", "old");
  check_output("--json", file("old.json"));
  EXPECT_EQ(contents_of(file("old.json")), "old");
}

TEST_F(outputs, directories_and_missing_parents_are_refused) {
  EXPECT_THROW(check_output("--json", folder.path().string()), input_error);
  EXPECT_THROW(check_output("--json", file("none/x.json")), input_error);
  EXPECT_THROW(check_output("--json", "/proc/kilter-cannot-be-written"), input_error);
}

TEST_F(outputs, a_report_replaces_reports_but_nothing_else) {
  folder.write("thesis.html", "<title>My thesis</title>");
  EXPECT_THROW(check_report_output("--html", file("thesis.html")), input_error);
  folder.write("ours.html", "<title>Kilter report</title>");
  EXPECT_NO_THROW(check_report_output("--html", file("ours.html")));
  folder.write("empty.html", "");
  EXPECT_NO_THROW(check_report_output("--html", file("empty.html")));
}

TEST_F(outputs, writing_replaces_the_whole_file_and_keeps_its_mode) {
  folder.write("a.json", "a much longer content than the new one");
  fs::permissions(file("a.json"), fs::perms::owner_read | fs::perms::owner_write);
  write_output(file("a.json"), "new");
  EXPECT_EQ(contents_of(file("a.json")), "new");
  EXPECT_EQ(fs::status(file("a.json")).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1)
      << "no temporary file stays";
}

TEST_F(outputs, a_link_stays_a_link) {
  folder.write("target.json", "old");
  fs::create_symlink(file("target.json"), file("link.json"));
  write_output(file("link.json"), "new");
  EXPECT_TRUE(fs::is_symlink(file("link.json")));
  EXPECT_EQ(contents_of(file("target.json")), "new");
}

TEST_F(outputs, a_full_disk_is_said) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full to stand for a full disk";
  EXPECT_NO_THROW(check_output("--json", "/dev/full"));
  EXPECT_THROW(write_output("/dev/full", "text"), std::runtime_error);
}

}  // namespace
}  // namespace kilter::lab
