#include "presenting/result_trace.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "trace/recorder.hpp"

namespace kilter::lab {
namespace {

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

}  // namespace
}  // namespace kilter::lab
