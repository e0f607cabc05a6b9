#include "sim/event_queue.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/random.hpp"

namespace kilter::sim {
namespace {

TEST(event_queue, gives_the_earliest_first_and_of_equal_times_the_lowest_slot) {
  constexpr std::uint32_t slots = 37;
  event_queue q(slots);
  std::set<std::pair<sim_time, std::uint32_t>> expected;
  random_stream r(3, "events");
  for (int step = 0; step < 50'000; ++step) {
    const std::uint32_t s = r.below(slots);
    const sim_time t = r.below(4) == 0 ? never : r.below(50);
    if (q.time_of(s) != never) expected.erase({q.time_of(s), s});
    q.set(s, t);
    if (t != never) expected.insert({t, s});
    ASSERT_EQ(q.empty(), expected.empty());
    if (expected.empty()) continue;
    ASSERT_EQ(q.first(), expected.begin()->second) << step;
    ASSERT_EQ(q.time_of(q.first()), expected.begin()->first);
  }
}

TEST(event_queue, a_slot_whose_event_happens_gets_its_next_one_while_it_does_or_none) {
  constexpr std::uint32_t slots = 37;
  event_queue q(slots);
  std::set<std::pair<sim_time, std::uint32_t>> expected;
  random_stream r(4, "events");
  const auto put = [&](std::uint32_t s, sim_time t) {
    q.set(s, t);
    std::erase_if(expected, [&](const auto& e) { return e.second == s; });
    if (t != never) expected.insert({t, s});
  };
  for (std::uint32_t s = 0; s < slots; ++s) put(s, r.below(50));
  for (int step = 0; step < 50'000; ++step) {
    if (q.empty()) put(r.below(slots), r.below(50));
    const auto [now, taken] = *expected.begin();
    ASSERT_EQ(q.take(), taken) << step;
    expected.erase(expected.begin());
    // Others are set before and after its own next one, also to the present.
    for (int i = 0; i < 3; ++i)
      if (const std::uint32_t s = i == 1 ? taken : r.below(slots); r.below(3) > 0)
        put(s, r.below(8) == 0 ? never : now + r.below(20));
    q.happened();
    ASSERT_EQ(q.empty(), expected.empty());
    if (expected.empty()) continue;
    ASSERT_EQ(q.first(), expected.begin()->second) << step;
    ASSERT_EQ(q.time_of(q.first()), expected.begin()->first);
  }
}

}  // namespace
}  // namespace kilter::sim
