// Joules that can be computed by hand.
#include "sim/energy.hpp"

#include <gtest/gtest.h>

#include <array>

#include "sim/engine.hpp"
#include "unit/sim/world.hpp"

namespace kilter::sim {
namespace {

using test::nothing;
using test::plain;
using test::with;
using test::works;

/// Watts of a cluster: 1 idle, 3 with one busy core, 5 with two, 6 with four.
platform drawing(std::uint32_t cores = 4, std::uint32_t clusters = 1) {
  platform p = plain(cores, clusters);
  power_figure f;
  f.idle_w = 1.0;
  for (const double w : {3.0, 5.0, 6.0})
    if (f.busy_w.size() < p.widths(0).size()) f.busy_w.push_back(w);
  p.power = {f};
  return p;
}

double joules_of_a_chain(const platform& p, int tasks, std::vector<disturbance> disturbances = {}) {
  engine_options o = with("rws", p);
  o.disturbances = std::move(disturbances);
  engine e(p, o);
  graph g;
  task last;
  for (int i = 0; i < tasks; ++i) {
    const task t = g.add(nothing);
    if (last) g.edge(last, t);
    last = t;
  }
  e.run(g, works(g), 0);
  return e.energy_j().value_or(-1.0);
}

TEST(energy, watts_lie_on_straight_lines_between_the_widths) {
  const platform p = drawing();
  const std::array<std::uint32_t, 3> widths{1, 2, 4};
  const std::array<double, 6> busy{0, 1, 1.5, 2, 3, 4}, expected{1, 3, 4, 5, 5.5, 6};
  for (std::size_t i = 0; i < busy.size(); ++i)
    EXPECT_DOUBLE_EQ(watts(p.power[0], widths, busy[i]), expected[i]) << busy[i];
}

TEST(energy, a_chain_keeps_one_core_busy_and_the_other_clusters_idle) {
  EXPECT_NEAR(joules_of_a_chain(drawing(), 10), 10e-3 * 3.0, 1e-9);
  EXPECT_NEAR(joules_of_a_chain(drawing(4, 2), 10), 10e-3 * (3.0 + 1.0), 1e-9)
      << "every cluster draws its idle part";
}

TEST(energy, all_cores_busy_draw_what_the_largest_width_draws) {
  const platform p = drawing();
  engine e(p, with("rws", p));
  graph g;
  for (int i = 0; i < 400; ++i) g.add(nothing);
  const double seconds = e.run(g, works(g)).seconds;
  EXPECT_NEAR(*e.energy_j(), seconds * 6.0, 1e-3 * seconds * 6.0);
}

TEST(energy, a_core_that_a_co_runner_has_is_in_use) {
  EXPECT_NEAR(
      joules_of_a_chain(drawing(), 10,
                        {{.what = disturbance::kind::capacity, .cores = {3}, .left = 0.25}}),
      10e-3 * 4.5, 1e-9)
      << "1.75 cores busy";
  EXPECT_NEAR(joules_of_a_chain(drawing(), 10, {{.cores = {3}, .slice_s = 0.002}}),
              10e-3 * (0.6 * 5.0 + 0.4 * 3.0), 1e-9)
      << "the co-runner has core 3 in three slices of five";
}

TEST(energy, a_program_whose_quota_is_used_up_draws_the_idle_part) {
  EXPECT_NEAR(joules_of_a_chain(drawing(1), 15,
                                {{.what = disturbance::kind::quota, .cores = {0}, .left = 0.25}}),
              15e-3 * 3.0 + 30e-3 * 1.0, 1e-9);
}

TEST(energy, follows_the_clock_between_two_figures_and_is_unknown_beyond_them) {
  platform p = drawing();
  p.clocks[0] = {.mhz = {500, 1000, 1500, 2000}, .transition_s = 0.0};
  p.power[0].mhz = 2000;
  p.power.push_back(p.power[0]);
  p.power[1].mhz = 1000;
  for (double& w : p.power[1].busy_w) w *= 0.5;
  const auto at = [&](double factor) {
    return joules_of_a_chain(p, 10,
                             {{.what = disturbance::kind::clock, .cores = {0}, .left = factor}});
  };
  EXPECT_NEAR(at(0.5), 20e-3 * 1.5, 1e-9);
  EXPECT_NEAR(at(0.75), 10e-3 / 0.75 * 2.25, 1e-9);
  EXPECT_EQ(at(0.25), -1.0) << "the file says nothing about 500 MHz";
}

TEST(energy, says_what_the_file_does_not_give) {
  const platform p = plain(2);
  engine silent(p, with("rws", p));
  EXPECT_FALSE(silent.energy_j());
  EXPECT_EQ(silent.energy_gap(), "platform plain has no power figures of core");
  EXPECT_TRUE(engine(drawing(), with("rws", drawing())).energy_gap().empty());
}

TEST(energy, a_part_of_a_machine_keeps_its_figures) {
  const platform whole = platform::load("haswell-20");
  std::vector<core_id> four{0, 1, 2, 3};
  const platform part = whole.restricted_to(four);
  ASSERT_EQ(part.power.size(), 1u);
  EXPECT_EQ(part.power[0].idle_w, 20.0);
  EXPECT_EQ(part.power[0].busy_w, (std::vector<double>{28.5, 37.0, 54.0}))
      << "widths 1, 2 and 4; 4 on the line between 2 and 5";
}

}  // namespace
}  // namespace kilter::sim
