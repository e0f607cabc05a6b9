#include "sim/disturbance.hpp"

#include <gtest/gtest.h>

#include <string>

namespace kilter::sim {
namespace {

/// The times at which the disturbance changes up to `until_s`, in milliseconds: "+" it is at work
/// from then on, "-" no more.
std::string changes(const disturbance& d, double until_s) {
  disturbance_phase p(d);
  std::string all = p.active() ? "+0" : "";
  bool active = p.active();
  while (p.next_change() <= to_time(until_s)) {
    const auto ms = p.next_change() / 1'000'000'000;
    p.advance();
    if (p.active() != active)
      all += (all.empty() ? "" : " ") + std::string(p.active() ? "+" : "-") + std::to_string(ms);
    active = p.active();
  }
  return all;
}

TEST(disturbance_phase, a_co_runner_and_the_worker_have_the_core_in_turn) {
  EXPECT_EQ(changes({.cores = {0}, .slice_s = 0.004, .offset_s = 0.001}, 0.020),
            "+1 -5 +9 -13 +17");
  EXPECT_EQ(changes({.cores = {0}, .slice_s = 0.004, .offset_s = 0.0}, 0.010), "+0 -4 +8");
}

TEST(disturbance_phase, a_wave_begins_with_its_full_half) {
  EXPECT_EQ(
      changes({.what = disturbance::kind::clock, .cores = {0}, .left = 0.2, .half_period_s = 5},
              21),
      "+5000 -10000 +15000 -20000");
}

TEST(disturbance_phase, a_window_begins_and_ends_it) {
  EXPECT_EQ(changes({.what = disturbance::kind::capacity,
                     .cores = {0},
                     .left = 0.5,
                     .from_s = 0.002,
                     .to_s = 0.007},
                    1),
            "+2 -7");
  EXPECT_EQ(
      changes({.cores = {0}, .slice_s = 0.004, .offset_s = 0.001, .from_s = 0.002, .to_s = 0.010},
              1),
      "+3 -7")
      << "the slice that would begin at 11 does not";
  EXPECT_EQ(
      changes({.cores = {0}, .slice_s = 0.004, .offset_s = 0.001, .from_s = 0.002, .to_s = 0.005},
              1),
      "+3 -5")
      << "the end cuts a slice short";
  EXPECT_EQ(changes({.what = disturbance::kind::capacity, .cores = {0}, .left = 0.5}, 1), "+0");
}

}  // namespace
}  // namespace kilter::sim
