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

}  // namespace
}  // namespace kilter::sim
