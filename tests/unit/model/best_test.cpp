// The search that remembers finds what looking at every cell would have found.
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "base/random.hpp"
#include "model/tables.hpp"

namespace kilter {
namespace {

place_id by_looking(const model::tables& t, const machine& m, model::row_id r, objective goal,
                    auto&& accept) {
  place_id best = no_place;
  std::tuple<double, std::uint32_t, core_id> least{};
  for (const place_id p : m.scan_order()) {
    const place& where = m.at(p);
    if (!accept(where)) continue;
    const double time_s = t.time_s(r, p);
    if (t.options().explore_first && time_s == 0.0) return p;
    const std::tuple value{goal == objective::cost ? time_s * where.width : time_s, where.width,
                           where.leader};
    if (best == no_place || value < least) {
      best = p;
      least = value;
    }
  }
  return best;
}

struct two_and_four {
  const machine* m;
  static bool test(const void* self, place_id p) noexcept {
    const auto width = static_cast<const two_and_four*>(self)->m->at(p).width;
    return width == 2 || width == 4;
  }
};

void compare_after_every_change(const machine& m, const table_options& o, std::uint64_t seed) {
  model::tables t(m, o);
  random_stream random(seed, "best");
  const std::vector<model::row_id> rows{t.row("a", 0), t.row("b", 0), t.row("b", 1)};
  const two_and_four some{&m};
  double now_s = 0.0;
  const auto check = [&](int step) {
    for (const auto r : rows)
      for (const auto goal : {objective::cost, objective::time}) {
        // Twice: the second answer is the remembered one.
        for (int again = 0; again < 2; ++again) {
          ASSERT_EQ(t.best(r, goal, model::widths::all),
                    by_looking(t, m, r, goal, [](const place&) { return true; }))
              << step;
          ASSERT_EQ(t.best(r, goal, model::widths::one),
                    by_looking(t, m, r, goal, [](const place& p) { return p.width == 1; }))
              << step;
        }
        ASSERT_EQ(
            t.best(r, goal, model::allowed{two_and_four::test, &some}),
            by_looking(t, m, r, goal, [](const place& p) { return p.width == 2 || p.width == 4; }))
            << step;
      }
  };
  ASSERT_NO_FATAL_FAILURE(check(-1));
  for (int step = 0; step < 3000; ++step) {
    const auto p = random.below(static_cast<std::uint32_t>(m.places().size()));
    const auto r = rows[random.below(3)];
    switch (random.below(200)) {
      case 0: t.preset(r, p, 1e-6 * (1 + random.below(50))); break;
      case 1: t.clear(); break;
      case 2: now_s += 0.3; break;  // idle cores drift at the next sample
      default: {
        measured s;
        // Whole microseconds, so that equal values and their ties occur.
        s.sample_s = s.leader_s = s.span_s =
            1e-6 * (10 + random.below(5)) * (random.below(40) == 0 ? 300 : 1) / m.at(p).width;
        t.learn(r, p, s, now_s += s.sample_s);
      }
    }
    ASSERT_NO_FATAL_FAILURE(check(step));
  }
}

TEST(best_place, is_what_looking_at_every_cell_finds) {
  auto not_exploring = table_options::paper();
  not_exploring.explore_first = false;
  auto exploring = table_options::robust();
  exploring.explore_first = true;
  exploring.neutral_prior = false;
  const std::vector<table_options> modes{table_options::paper(), not_exploring,
                                         table_options::robust(), exploring};
  const std::vector<machine> machines{machine::from_platform("jetson-tx2"), machine::uniform(9),
                                      machine::uniform(8, 4), machine::uniform(1)};
  for (std::size_t i = 0; i < machines.size(); ++i)
    for (std::size_t k = 0; k < modes.size(); ++k) {
      SCOPED_TRACE(machines[i].name() + ", options " + std::to_string(k));
      ASSERT_NO_FATAL_FAILURE(compare_after_every_change(machines[i], modes[k], 10 * i + k));
    }
}

TEST(best_place, is_none_if_no_place_is_admitted) {
  const machine m = machine::uniform(1);
  const two_and_four some{&m};
  model::tables t(m, table_options::robust());
  EXPECT_EQ(t.best(t.row("a", 0), objective::cost, model::allowed{two_and_four::test, &some}),
            no_place);
}

}  // namespace
}  // namespace kilter
