#include "trace/recorder.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "kilter/error.hpp"

namespace kilter::trace {
namespace {

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

}  // namespace
}  // namespace kilter::trace
