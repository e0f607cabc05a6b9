#include "measuring/presence.hpp"

#include <gtest/gtest.h>

namespace kilter::lab {
namespace {

disturber_row row(double active_s, double share, double progress, bool co_runner = true) {
  disturber_row r;
  r.active_s = active_s;
  r.achieved_share = share;
  r.progress = progress;
  if (co_runner) r.alone_per_s = 1000.0;
  return r;
}

TEST(presence, what_a_run_saw_leaves_out_the_time_before_it) {
  // 0.1 s alone on the core (nothing left to others, full speed), then 0.9 s in which half was
  // left.
  const auto e = difference({{row(0.1, 0.0, 1.0)}}, {{row(1.0, 0.45, 0.55)}});
  EXPECT_NEAR(e.share.value(), 0.5, 1e-12);
  EXPECT_NEAR(e.progress.value(), 0.5, 1e-12);
}

TEST(presence, a_window_that_never_opened_has_no_figures) {
  const auto e = difference({{disturber_row{}}}, {{disturber_row{}}});
  EXPECT_FALSE(e.share.has_value());
  EXPECT_FALSE(e.progress.has_value());
}

TEST(presence, progress_is_that_of_co_runners_where_there_are_any) {
  const auto e = difference({}, {{row(1.0, 0.5, 0.5), row(1.0, 0.3, 0.99, false)}});
  EXPECT_NEAR(e.progress.value(), 0.5, 1e-12);
  EXPECT_NEAR(e.share.value(), 0.4, 1e-12);
}

TEST(presence, waves_and_windows_start_with_the_run) {
  const machine here = machine::local();
  EXPECT_FALSE(presence(here, {}).timed());
  EXPECT_FALSE(presence(here, parse_disturbances("cpu@0", here)).timed());
  EXPECT_TRUE(presence(here, parse_disturbances("cpu@0@0.1..0.2", here)).timed());
}

}  // namespace
}  // namespace kilter::lab
