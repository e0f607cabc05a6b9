#include "trace/summary.hpp"

#include <gtest/gtest.h>

namespace kilter::trace {
namespace {

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
