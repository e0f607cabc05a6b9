// Recorded graphs of tasks as the threads that S1 compares with them.

#include "threads/recorded_threads.hpp"

#include <gtest/gtest.h>

#include <span>

#include "kilter/error.hpp"
#include "sim/threads/thread_engine.hpp"

namespace kilter::lab {
namespace {

/// Twice: half a second of serial work, then four blocks of a second.
dag two_loops() {
  dag d;
  d.name = "loops";
  d.types = {{"step"}, {"block"}};
  for (int round = 0; round < 2; ++round) {
    d.tasks.push_back({.id = "step " + std::to_string(round), .type = 0, .seconds = 0.5});
    for (int b = 0; b < 4; ++b)
      d.tasks.push_back(
          {.id = "block " + std::to_string(4 * round + b), .type = 1, .seconds = 1.0});
  }
  return d;
}

/// Six items: read in order, worked on by several, written in order.
dag pipeline() {
  dag d;
  d.name = "pipeline";
  d.types = {{"read"}, {"work"}, {"write"}};
  for (std::uint32_t i = 0; i < 6; ++i)
    for (std::uint32_t stage = 0; stage < 3; ++stage) {
      d.tasks.push_back(
          {.id = std::to_string(3 * i + stage), .type = stage, .seconds = stage == 1 ? 1.0 : 0.25});
      if (stage > 0) d.edges.push_back({.from = 3 * i + stage - 1, .to = 3 * i + stage});
      if (stage != 1 && i > 0)
        d.edges.push_back({.from = 3 * (i - 1) + stage, .to = 3 * i + stage});
    }
  settle(d);
  return d;
}

double end_of(const sim::thread_program& p, std::vector<double> clocks) {
  sim::thread_machine m;
  for (const double c : clocks) m.cores.push_back({c});
  return sim::run_threads(m, std::span(&p, 1), 1, nullptr).end_s;
}

TEST(recorded_threads, share_a_loop_out_equally_or_as_they_come) {
  EXPECT_NEAR(end_of(threads_of(two_loops(), 2, loop_sharing::equal, 1.0, {}), {1, 1}),
              2 * (0.5 + 2), 1e-6);
  EXPECT_NEAR(end_of(threads_of(two_loops(), 1, loop_sharing::equal, 1.0, {}), {1}), 2 * (0.5 + 4),
              1e-6);
  EXPECT_NEAR(end_of(threads_of(two_loops(), 2, loop_sharing::equal, 3.0, {}), {1, 1}),
              3 * 2 * (0.5 + 2), 1e-6)
      << "scaled";
  EXPECT_NEAR(
      end_of(threads_of(two_loops(), 8, loop_sharing::equal, 1.0, {}), {1, 1, 1, 1, 1, 1, 1, 1}),
      2 * (0.5 + 1), 1e-6)
      << "more threads than blocks";
  // Of unequal cores the slow one is waited for, or does fewer. Where the system puts which thread
  // is drawn, so the first thread's serial work may be slow.
  const double equal = end_of(threads_of(two_loops(), 2, loop_sharing::equal, 1.0, {}), {1, 0.25}),
               as_they_come = end_of(
                   threads_of(two_loops(), 2, loop_sharing::as_they_come, 1.0, {}), {1, 0.25});
  EXPECT_GE(equal, 2 * (0.5 + 8) - 1e-6);
  EXPECT_LE(as_they_come, 2 * (2 + 4) + 1e-6);
}

TEST(recorded_threads, have_a_pool_of_threads_for_each_stage) {
  const sim::thread_program p = threads_of(pipeline(), 3, loop_sharing::equal, 1.0, {});
  EXPECT_EQ(p.groups.front().threads.size(), 1u + 3u + 1u);
  EXPECT_NEAR(end_of(p, {1, 1, 1, 1, 1}), 0.25 * 3 + 1.0 + 1.0 + 0.25, 0.26) << "three at a time";
  EXPECT_NEAR(end_of(p, {1}), 6 * 1.5, 1e-6);
  EXPECT_NEAR(end_of(threads_of(pipeline(), 1, loop_sharing::equal, 1.0, {}), {1, 1, 1}),
              0.25 + 6 * 1.0 + 0.25, 1e-6)
      << "as fast as the slowest stage";
}

TEST(recorded_threads, refuse_what_is_no_program) {
  EXPECT_THROW((void)threads_of(dag{}, 2, loop_sharing::equal, 1.0, {}), input_error);
  EXPECT_THROW((void)threads_of(two_loops(), 0, loop_sharing::equal, 1.0, {}), input_error);
  dag d = pipeline();
  d.tasks.push_back({.id = "more", .type = 1, .seconds = 1.0});
  EXPECT_THROW((void)threads_of(d, 2, loop_sharing::equal, 1.0, {}), input_error)
      << "seven items in one stage, six in the others";
}

}  // namespace
}  // namespace kilter::lab
