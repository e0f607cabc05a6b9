// The equations of lab/docs/simulator.md, by hand.
#include "sim/speeds.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "unit/sim/world.hpp"

namespace kilter::sim {
namespace {

struct running_load : load {
  explicit running_load(const task_cost& c, cluster_id in = 0, std::uint32_t w = 1,
                        std::uint32_t of_widths = 0) {
    cost = &c;
    cluster = in;
    width = w;
    width_index = of_widths;
    left = 1.0;
  }
};

TEST(water_level, gives_equal_shares_to_those_that_want_more_than_is_left) {
  std::vector<double> w{1, 5, 10};
  EXPECT_DOUBLE_EQ(water_level(w, 9), 4.0) << "1 + 4 + 4";
  EXPECT_EQ(water_level(w, 16), std::numeric_limits<double>::infinity());
  EXPECT_DOUBLE_EQ(water_level(w, 1.5), 0.5);
}

TEST(speeds, a_lone_task_runs_at_its_figure_and_a_lower_clock_or_share_slows_it) {
  const platform p = test::plain(2);
  speeds s(p);
  const task_cost cost{.seconds = {1e-3, 0.5e-3}};
  running_load one(cost);
  s.begin(one, 0);
  s.join(one, 0, 0);
  EXPECT_EQ(one.ends, to_time(1e-3));
  s.set_capacity(0, 0.5, to_time(0.5e-3));
  EXPECT_EQ(one.ends, to_time(1.5e-3)) << "half is left, at half the speed";
  s.set_clock(0, 0.5, to_time(1e-3));
  EXPECT_EQ(one.ends, to_time(2e-3)) << "a quarter is left, at a quarter of the speed";
}

TEST(speeds, members_that_come_late_help_with_what_is_left) {
  const platform p = test::plain(2);
  speeds s(p);
  const task_cost cost{.seconds = {1e-3, 0.5e-3}};
  running_load wide(cost, 0, 2, 1);
  s.begin(wide, 0);
  s.join(wide, 0, 0);
  EXPECT_EQ(wide.ends, to_time(1e-3)) << "one of two members has half the rate of both";
  s.join(wide, 1, to_time(0.5e-3));
  EXPECT_EQ(wide.ends, to_time(0.75e-3));
  s.set_capacity(1, 0.0, to_time(0.6e-3));
  EXPECT_NEAR(to_seconds(wide.ends), 0.6e-3 + 0.3e-3, 1e-12) << "30 % are left for one";
}

TEST(speeds, memory_is_shared_max_min) {
  platform p = test::plain(4, 2);
  p.core_bytes_per_s = {5e9};
  p.cluster_bytes_per_s = {8e9};
  p.chip_bytes_per_s = 12e9;
  speeds s(p);
  const task_cost heavy{.seconds = {1e-3}, .bytes = 6e6}, light{.seconds = {1e-3}, .bytes = 1e6};
  running_load a(heavy), b(heavy), c(heavy, 1), d(light, 1);
  const auto start = [&](running_load& l, core_id core) {
    s.begin(l, 0);
    s.join(l, core, 0);
  };
  start(a, 0);
  EXPECT_NEAR(a.per_s, 5e9 / 6e6, 1e-6) << "its core's limit";
  start(b, 1);
  EXPECT_NEAR(a.per_s, 4e9 / 6e6, 1e-6) << "half of the cluster's";
  start(c, 2);
  EXPECT_NEAR(c.per_s, 4e9 / 6e6, 1e-6) << "4 + 4 + 5 is more than the chip has";
  start(d, 3);
  EXPECT_NEAR(d.per_s, 1e9 / 1e6, 1e-6) << "it wants less than its share";
  EXPECT_NEAR(a.per_s, 11e9 / 3 / 6e6, 1e-6);
  s.finish(b, 0);
  EXPECT_NEAR(a.per_s, 5e9 / 6e6, 1e-6);
  EXPECT_NEAR(c.per_s, 5e9 / 6e6, 1e-6);
}

TEST(speeds, every_node_has_a_memory_of_its_own) {
  platform p = test::plain(4, 2);
  p.chip_bytes_per_s = 4e9;
  p.network = network_figure{.clusters_per_node = 1};
  speeds s(p);
  const task_cost cost{.seconds = {1e-3}, .bytes = 4e6};
  std::vector<running_load> all(4, running_load(cost));
  for (core_id c = 0; c < 4; ++c) {
    all[c].cluster = c / 2;
    s.begin(all[c], 0);
    s.join(all[c], c, 0);
  }
  for (const running_load& one : all)
    EXPECT_NEAR(one.per_s, 500, 1e-9) << "two share 4 GB/s, not four";
}

TEST(speeds, working_sets_that_do_not_fit_together_cost_traffic) {
  platform p = test::plain(2);
  p.core_bytes_per_s = {1e9};
  p.cache_bytes = {1000};
  speeds s(p);
  const task_cost cost{
      .seconds = {1e-3}, .bytes = 0.5e6, .bytes_beyond_cache = 2e6, .working_set = 600};
  running_load a(cost), b(cost);
  s.begin(a, 0);
  s.join(a, 0, 0);
  EXPECT_NEAR(a.per_s, 1000, 1e-9);
  s.begin(b, 0);
  s.join(b, 1, 0);
  EXPECT_NEAR(a.per_s, 400, 1e-9) << "1 ms of computing, and 1.5 MB to wait for at 1 GB/s";
  s.finish(b, 0);
  EXPECT_NEAR(a.per_s, 1000, 1e-9);
  s.set_foreign(1, 0.0, 500, 0);
  EXPECT_NEAR(a.per_s, 400, 1e-9) << "a co-runner's working set counts too";
  s.set_foreign(1, 0.0, 400, 0);
  EXPECT_NEAR(a.per_s, 400, 1e-9) << "filled to the last line leaves no room for code";
  s.set_foreign(1, 0.0, 399, 0);
  EXPECT_NEAR(a.per_s, 1000, 1e-9);
}

}  // namespace
}  // namespace kilter::sim
