#include "lab/details.hpp"

#include <gtest/gtest.h>

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

TEST(details, a_short_run_is_kept_whole) {
  const document d = detail_document(traced(100));
  EXPECT_EQ(d["spans"].size(), 100u);
  EXPECT_EQ(d["table"].size(), 100u);
  EXPECT_EQ(d["spans"][1]["start_s"], 1e-6) << "seconds since the first task";
  EXPECT_EQ(d["spans"][0]["type"], "matmul");
}

TEST(details, a_long_run_keeps_whole_stretches_from_the_start_to_the_end) {
  const document d = detail_document(traced(100'000));
  EXPECT_EQ(d["spans_total"], 100'000u);
  EXPECT_LE(d["spans"].size(), most_spans);
  EXPECT_GE(d["spans"].size(), most_spans - 10);
  EXPECT_LE(d["table"].size(), most_table_rows + 1);
  EXPECT_EQ(d["spans"].front()["task"], 0u);
  EXPECT_EQ(d["spans"].back()["task"], 99'999u);
  EXPECT_EQ(d["table"].back()["t_s"], d["spans"].back()["end_s"]) << "the last thing learned is kept";
  std::size_t gaps = 0;
  for (std::size_t i = 1; i < d["spans"].size(); ++i) {
    ASSERT_LT(d["spans"][i - 1]["task"], d["spans"][i]["task"]) << "no task twice";
    gaps += d["spans"][i]["task"] != d["spans"][i - 1]["task"].get<std::size_t>() + 1;
  }
  EXPECT_EQ(gaps + 1, d["span_windows"].size());
}

TEST(details, document_text_reads_back_to_the_same) {
  document d{{"a", 1}, {"rows", {{{"x", 1}, {"s", "text \"quoted\""}}, {{"x", 2}}}}, {"none", document::array()}, {"list", {1, 2}}};
  EXPECT_EQ(document::parse(document_text(d)), d);
  EXPECT_EQ(document_text(document{{"rows", {{{"x", 1}}, {{"x", 2}}}}}), "{\n \"rows\": [\n  {\"x\":1},\n  {\"x\":2}\n ]\n}\n");
}

}  // namespace
}  // namespace kilter::lab
