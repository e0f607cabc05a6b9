// The numbers for a core's slowdown, on made streams of samples.
#include <gtest/gtest.h>

#include "model/tables.hpp"

namespace kilter {
namespace {

struct fed_core {
  machine m = machine::uniform(2);
  model::tables t{m, table_options::robust()};
  model::row_id row = t.row("body", 0);
  double now_s = 0.0;
  double slow_s = 0.0;  ///< integral of the slowdown over time
  double first_above = -1.0;

  void sample(double seconds) {
    slow_s += t.slowdown(0) * seconds;
    now_s += seconds;
    measured s;
    s.sample_s = s.leader_s = s.span_s = seconds;
    t.learn(row, m.single(0), s, now_s);
    if (first_above < 0.0 && t.slowdown(0) > 1.5) first_above = now_s;
  }
  void undisturbed(double body_s, double seconds) {
    for (const double stop = now_s + seconds; now_s < stop;) sample(body_s);
  }
};

struct pattern {
  double body_s, stretched_s;
  int period;
};
class slowdown_window : public testing::TestWithParam<pattern> {};

// Wherever in its period the disturbance starts.
TEST_P(slowdown_window, follows_a_time_sliced_core) {
  const auto [body_s, stretched_s, period] = GetParam();
  for (int phase = 0; phase < period; phase += period / 10) {
    fed_core f;
    f.undisturbed(body_s, 0.2);
    EXPECT_LT(f.t.slowdown(0), 1.02);
    const double from_s = f.now_s;
    int n = phase;
    const auto next = [&] { f.sample(++n % period == 0 ? stretched_s : body_s); };
    while (f.now_s < from_s + 0.08) next();
    EXPECT_GT(f.first_above, 0.0) << phase;
    EXPECT_LT(f.first_above, from_s + 0.040) << phase;
    for (int block = 0; block < 10; ++block) {
      const double t0 = f.now_s, sum0 = f.slow_s;
      while (f.now_s < t0 + 0.040) next();
      const double mean = (f.slow_s - sum0) / (f.now_s - t0);
      EXPECT_GT(mean, 1.7) << phase << " block " << block;
      EXPECT_LT(mean, 2.3) << phase << " block " << block;
    }
    f.undisturbed(body_s, 0.060);
    EXPECT_LT(f.t.slowdown(0), 1.15)
        << "still spoiled 60 ms after the disturbance, phase " << phase;
  }
}
INSTANTIATE_TEST_SUITE_P(, slowdown_window,
                         testing::Values(pattern{16e-6, 4e-3, 260}, pattern{1e-3, 10e-3, 10}));

TEST(slowdown, one_lone_gap_is_forgotten) {
  fed_core f;
  f.undisturbed(16e-6, 0.2);
  f.sample(10e-3);
  f.undisturbed(16e-6, 0.1);
  EXPECT_LT(f.t.slowdown(0), 1.10);
  EXPECT_NEAR(f.t.time_s(f.row, f.m.single(0)), 16e-6, 0.05 * 16e-6);
}

TEST(slowdown, very_short_tasks_count_their_gaps_too) {
  fed_core f;
  f.undisturbed(100e-9, 0.05);
  for (int gap = 0; gap < 20; ++gap) {
    f.undisturbed(100e-9, 4e-3);
    f.sample(4e-3);
  }
  EXPECT_GT(f.t.slowdown(0), 1.7);
  EXPECT_LT(f.t.slowdown(0), 2.4);
}

TEST(slowdown, is_one_without_two_factors) {
  const machine m = machine::uniform(2);
  auto o = table_options::robust();
  o.two_factors = false;
  model::tables t(m, o);
  const auto r = t.row("a", 0);
  measured s;
  for (int i = 0; i < 100; ++i) {
    s.sample_s = i % 2 ? 1e-3 : 5e-3;
    t.learn(r, 0, s, i * 5e-3);
  }
  EXPECT_EQ(t.slowdown(0), 1.0);
  EXPECT_GT(t.time_s(r, 0), 1e-3);
}

}  // namespace
}  // namespace kilter
