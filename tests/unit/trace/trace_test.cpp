// Events as they are recorded, written for Perfetto and summed up.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "kilter/error.hpp"
#include "trace/perfetto.hpp"
#include "trace/recorder.hpp"
#include "trace/summary.hpp"

namespace kilter::trace {
namespace {

// ---- written for Perfetto -----------------------------------------------------------------------

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

// ---- recorded -----------------------------------------------------------------------------------

event task_at(std::int64_t start_ns, core_id core, std::int64_t end_ns = 0) {
  event e;
  e.start_ns = start_ns;
  e.end_ns = end_ns == 0 ? start_ns + 1 : end_ns;
  e.core = core;
  return e;
}

TEST(recorder, gives_back_what_every_core_wrote_across_chunks_in_order_of_time) {
  recorder r(3);
  const int n = static_cast<int>(recorder::chunk_events) + 10;
  for (int i = 0; i < n; ++i) {
    r.append(2, task_at(2 * i + 1, 2));
    r.append(0, task_at(2 * i, 0));
  }
  const auto all = r.drain();
  ASSERT_EQ(all.size(), static_cast<std::size_t>(2 * n));
  for (int i = 0; i < 2 * n; ++i) ASSERT_EQ(all[i].start_ns, i);
  EXPECT_EQ(all[1].core, 2u);
  EXPECT_EQ(r.dropped(), 0u);
}

TEST(recorder, counts_what_the_limit_refuses_and_keeps_the_first) {
  recorder r(2, {.limit_events_per_core = 5});
  for (int i = 0; i < 8; ++i) r.append(0, task_at(i, 0));
  r.append(1, task_at(100, 1));
  EXPECT_EQ(r.size(), 6u);
  EXPECT_EQ(r.dropped(), 3u);
  EXPECT_EQ(r.dropped_from_ns(), (std::vector<std::int64_t>{5, recorder::never}))
      << "of each core, so that a drawing does not take it for idle time";
  const auto all = r.drain();
  ASSERT_EQ(all.size(), 6u);
  EXPECT_EQ(all[4].start_ns, 4);
  EXPECT_EQ(all[5].start_ns, 100);
}

TEST(recorder, an_event_of_an_unknown_lane_is_counted_not_written) {
  recorder r(2);
  r.append(2, task_at(1, 2));
  EXPECT_EQ(r.size(), 0u);
  EXPECT_EQ(r.dropped(), 1u);
}

TEST(recorder, is_as_new_after_draining) {
  recorder r(1, {.limit_events_per_core = 1});
  r.append(0, task_at(1, 0));
  r.append(0, task_at(2, 0));
  EXPECT_EQ(r.drain().size(), 1u);
  EXPECT_EQ(r.dropped(), 0u);
  EXPECT_EQ(r.dropped_from_ns(), std::vector<std::int64_t>{recorder::never});
  r.append(0, task_at(7, 0));
  const auto again = r.drain();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].start_ns, 7);
}

TEST(recorder, an_enclosing_span_comes_before_what_it_encloses) {
  recorder r(1);
  r.append(0, task_at(10, 0, 20));
  r.append(0, task_at(10, 0, 90));
  EXPECT_EQ(r.drain().front().end_ns, 90);
}

TEST(recorder, can_be_read_and_written_from_outside_while_cores_write) {
  recorder r(2);
  constexpr int n = 20'000;
  const auto writer = [&](core_id c) {
    for (int i = 0; i < n; ++i) r.append(c, task_at(i, c));
  };
  std::thread a(writer, 0), b(writer, 1);
  std::thread c([&] {
    for (int i = 0; i < 1000; ++i) r.append_outside(task_at(i, 0));
  });
  std::uint64_t seen = 0;
  for (int round = 0; round < 20; ++round) {
    std::uint64_t now = 0;
    r.for_each([&](const event& e) {
      ASSERT_EQ(e.end_ns, e.start_ns + 1);
      ++now;
    });
    EXPECT_GE(now, seen);
    seen = now;
  }
  a.join();
  b.join();
  c.join();
  EXPECT_EQ(r.drain().size(), static_cast<std::size_t>(2 * n + 1000));
}

TEST(recorder, names_types_and_labels) {
  recorder r(1);
  r.name_type(2, "stencil");
  EXPECT_EQ(r.type_names(), (std::vector<std::string>{"type 0", "type 1", "stencil"}));
  EXPECT_EQ(r.label("cpu@0"), 0);
  EXPECT_EQ(r.label("mem@1"), 1);
  EXPECT_EQ(r.label("cpu@0"), 0);
  EXPECT_EQ(r.labels(), (std::vector<std::string>{"cpu@0", "mem@1"}));
}

TEST(recorder, refuses_sizes_that_record_nothing) {
  EXPECT_THROW(recorder(0), input_error);
  EXPECT_THROW(recorder(1, {.limit_events_per_core = 0}), input_error);
}

// ---- summed up ----------------------------------------------------------------------------------

TEST(summary, nested_and_overlapping_parts_of_a_core_count_once) {
  const std::vector<event> events{{.start_ns = 0, .end_ns = 100, .core = 1, .task = 0},
                                  {.start_ns = 20, .end_ns = 50, .core = 1, .task = 1},
                                  {.start_ns = 90, .end_ns = 120, .core = 1, .task = 2},
                                  {.start_ns = 200, .end_ns = 210, .core = 0, .task = 3}};
  const summary s = summarize(events, 2);
  EXPECT_DOUBLE_EQ(s.cores[1].work_s, 120e-9);
  EXPECT_EQ(s.cores[1].tasks, 3u);
  EXPECT_DOUBLE_EQ(s.cores[0].work_s, 10e-9);
  EXPECT_DOUBLE_EQ(s.seconds, 210e-9);
}

TEST(summary, a_wide_task_counts_once_even_if_its_first_member_never_came) {
  std::vector<event> events;
  for (std::uint16_t member = 1; member < 4; ++member)
    events.push_back({.end_ns = 5,
                      .core = member,
                      .task = 1,
                      .leader = 0,
                      .width = 4,
                      .member = member,
                      .flags = event_flag::critical});
  events.push_back({.end_ns = 5,
                    .core = 0,
                    .task = 1,
                    .graph = 1,
                    .leader = 0,
                    .width = 4,
                    .flags = event_flag::critical});
  events.push_back({.end_ns = 5, .core = 2, .task = 2, .leader = 2, .flags = event_flag::critical});
  events.push_back({.end_ns = 5, .core = 2, .task = 3, .leader = 2, .flags = event_flag::explored});
  const summary s = summarize(events, 4);
  ASSERT_EQ(s.places.size(), 2u);
  EXPECT_EQ(s.places[0].where, (place{0, 4}));
  EXPECT_EQ(s.places[0].critical, 2u);
  EXPECT_EQ(s.places[1].other, 1u);
  EXPECT_DOUBLE_EQ(s.critical_share({0, 4}), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(s.critical_share({3, 1}), 0.0);
  EXPECT_EQ(s.explored, 1u);
}

TEST(summary, parking_and_steals_are_kept_apart_from_work) {
  const summary s = summarize(
      std::vector<event>{
          {.start_ns = 0, .end_ns = 2'000'000'000, .core = 0, .kind = event_kind::park},
          {.core = 0, .kind = event_kind::steal}},
      1);
  EXPECT_DOUBLE_EQ(s.cores[0].parked_s, 2.0);
  EXPECT_EQ(s.cores[0].steals, 1u);
  EXPECT_EQ(s.cores[0].work_s, 0.0);
  EXPECT_EQ(s.seconds, 0.0);
  EXPECT_EQ(s.critical_share({0, 1}), 0.0);
}

TEST(summary, of_nothing_is_empty_and_a_core_out_of_range_is_no_error) {
  EXPECT_TRUE(summarize({}, 0).places.empty());
  EXPECT_EQ(summarize(std::vector<event>{{.end_ns = 1, .core = 5}}, 2).places.size(), 1u);
}

}  // namespace
}  // namespace kilter::trace
