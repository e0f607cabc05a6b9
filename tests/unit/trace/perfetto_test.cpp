#include "trace/perfetto.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

namespace kilter::trace {
namespace {

std::vector<event> one_of_each() {
  return {
      {.start_ns = 1'000,
       .end_ns = 21'345,
       .core = 0,
       .task = 7,
       .graph = 1,
       .leader = 0,
       .width = 2,
       .type = 0,
       .member = 0,
       .kind = event_kind::task,
       .flags = event_flag::critical | event_flag::wide},
      {.start_ns = 1'200,
       .end_ns = 21'300,
       .core = 1,
       .task = 7,
       .graph = 1,
       .leader = 0,
       .width = 2,
       .type = 0,
       .member = 1,
       .kind = event_kind::task,
       .flags = event_flag::critical | event_flag::wide},
      {.start_ns = 22'000,
       .end_ns = 22'000,
       .core = 1,
       .task = 8,
       .graph = 1,
       .leader = 0,
       .kind = event_kind::steal},
      {.start_ns = 22'001,
       .end_ns = 30'002,
       .core = 1,
       .task = 8,
       .graph = 1,
       .leader = 1,
       .type = 1,
       .flags = event_flag::stolen | event_flag::explored},
      {.start_ns = 21'400, .end_ns = 40'000, .core = 0, .kind = event_kind::park},
      {.start_ns = 21'350,
       .end_ns = 21'350,
       .core = 0,
       .leader = 0,
       .width = 2,
       .kind = event_kind::table,
       .value = 2.5e-5F,
       .aux = 1.5F},
      {.start_ns = 500,
       .end_ns = 500,
       .core = 0,
       .task = 7,
       .graph = 1,
       .leader = 0,
       .width = 2,
       .kind = event_kind::decision,
       .value = 2.5e-5F},
      {.start_ns = 0,
       .end_ns = 1'000'000,
       .core = 0,
       .type = 0,
       .kind = event_kind::disturbance,
       .value = 0.5F},
      {.start_ns = 5, .end_ns = 5, .core = 1, .type = 1, .kind = event_kind::marker},
  };
}

run_description described() {
  return {.name = "dam-c, cpu@0",
          .cores = {{0, "P-core", 3}, {1, "", 5}},
          .types = {"matmul", "copy"},
          .labels = {"cpu@0", "graph 1"},
          .dropped = 0};
}

std::string written(const run_description& run, const std::vector<event>& events) {
  std::ostringstream out;
  write_perfetto(out, run, events);
  return out.str();
}

TEST(perfetto, one_of_each_kind_is_written_as_the_golden_file_has_it) {
  std::ifstream file(std::filesystem::path(KILTER_TEST_DATA).parent_path() / "golden" /
                     "one_of_each.trace.json");
  std::ostringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(written(described(), one_of_each()), golden.str());
}

TEST(perfetto, is_json_with_the_fields_that_viewers_require) {
  const auto trace = nlohmann::json::parse(written(described(), one_of_each()));
  std::set<std::string> phases;
  for (const auto& e : trace.at("traceEvents")) {
    const std::string phase = e.at("ph");
    phases.insert(phase);
    EXPECT_TRUE(e.at("pid").is_number_integer() && e.at("tid").is_number_integer() &&
                e.at("name").is_string());
    if (phase == "X") {
      EXPECT_GE(e.at("dur").get<double>(), 0.0);
    } else if (phase == "i") {
      EXPECT_EQ(e.at("s"), "t");
    } else if (phase == "C") {
      for (const auto& value : e.at("args")) EXPECT_TRUE(value.is_number());
    } else if (phase == "b" || phase == "e") {
      EXPECT_TRUE(e.contains("id") && e.contains("cat"));
    }
    if (phase != "M") {
      EXPECT_TRUE(e.at("ts").is_number());
    }
  }
  EXPECT_EQ(phases, (std::set<std::string>{"M", "X", "i", "C", "b", "e"}));
}

TEST(perfetto, names_from_outside_cannot_break_the_file) {
  run_description run = described();
  run.name = "a\"b\\c\n</script>\x01\xff\xc3\x28 \xc3\xa9";
  const auto trace = nlohmann::json::parse(written(run, one_of_each()));
  EXPECT_EQ(trace["traceEvents"][0]["args"]["name"],
            "a\"b\\c\n</script>\x01\xEF\xBF\xBD\xEF\xBF\xBD\x28 \xc3\xa9");
}

TEST(perfetto, times_stay_exact_to_the_nanosecond_in_long_and_shifted_runs) {
  event e{.start_ns = 9'007'199'254'740'993, .end_ns = 9'007'199'254'740'994};
  EXPECT_NE(written({}, {e}).find("\"ts\":9007199254740.993,"), std::string::npos);
  e.start_ns = -1'001;
  EXPECT_NE(written({}, {e}).find("\"ts\":-1.001,"), std::string::npos);
  std::ostringstream out;
  perfetto_writer writer(out);
  writer.begin_run({}, 2'000);
  writer.write(e);
  writer.finish();
  EXPECT_NE(out.str().find("\"ts\":0.999,"), std::string::npos);
}

TEST(perfetto, values_that_json_cannot_hold_do_not_reach_it) {
  const float inf = std::numeric_limits<float>::infinity();
  const auto text = written(
      described(),
      {{.kind = event_kind::table, .value = inf, .aux = std::numeric_limits<float>::quiet_NaN()},
       {.kind = event_kind::decision, .value = inf}});
  const auto trace = nlohmann::json::parse(text);
  EXPECT_TRUE(trace["traceEvents"].back()["args"]["predicted_s"].is_null());
  EXPECT_EQ(text.find("\"ph\":\"C\""), std::string::npos);
}

TEST(perfetto, runs_are_processes_of_their_own_and_no_thread_number_is_shared) {
  std::ostringstream out;
  perfetto_writer writer(out);
  for (int run = 0; run < 2; ++run) {
    writer.begin_run(described());
    for (const event& e : one_of_each()) writer.write(e);
  }
  writer.finish();
  std::set<std::pair<int, int>> threads;
  std::set<int> numbers;
  const auto trace = nlohmann::json::parse(out.str());
  for (const auto& e : trace["traceEvents"])
    if (e["ph"] == "X") threads.emplace(e["pid"].get<int>(), e["tid"].get<int>());
  for (const auto& [process, thread] : threads) numbers.insert(thread);
  EXPECT_EQ(threads.size(), 4u);
  EXPECT_EQ(numbers.size(), 4u);
}

TEST(perfetto, a_writer_left_by_an_exception_leaves_a_whole_file) {
  std::ostringstream out;
  { perfetto_writer writer(out); }
  EXPECT_TRUE(nlohmann::json::parse(out.str())["traceEvents"].empty());
}

TEST(perfetto, dropped_events_are_told_in_the_viewer) {
  run_description run = described();
  run.dropped = 12;
  EXPECT_NE(written(run, {}).find("12 events dropped"), std::string::npos);
}

TEST(perfetto, unnamed_types_get_a_number) {
  EXPECT_NE(written({}, {{.type = 9}}).find("\"type 9\""), std::string::npos);
}

}  // namespace
}  // namespace kilter::trace
