#pragma once
// A machine of arithmetic for tests of schedulers: a thread's rate is the least of its demand and
// of its share of the core.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "balance/catalogue.hpp"
#include "unit/machines.hpp"
#include "unit/support.hpp"

namespace kilter::balance::test {

using kilter::test::expect_names;
using kilter::test::refusal;
using kilter::test::two_kinds;

constexpr auto C = thread_class::compute;
constexpr auto M = thread_class::memory;
constexpr auto U = thread_class::unknown;

struct actor {
  program_id program = 0;
  thread_class kind = thread_class::compute;
  double demand_per_s = 0.0;
  core_id core = 0;
  bool background = false;
  bool alive = true;
  bool runnable = true;
  bool movable = true;
};

struct world {
  std::vector<double> core_per_s;  ///< what each core can reach
  std::vector<actor> actors;       ///< by thread id
  double now_s = 0.0;

  [[nodiscard]] observation see(double length_s, bool rates = true) {
    now_s += length_s;
    observation o{.now_s = now_s, .length_s = length_s, .rates = rates, .threads = {}};
    for (thread_id t = 0; t < actors.size(); ++t) {
      const actor& a = actors[t];
      if (!a.alive) continue;
      const auto sharing = std::count_if(actors.begin(), actors.end(), [&](const actor& b) {
        return b.alive && b.runnable && b.core == a.core;
      });
      thread_sample s;
      s.thread = t;
      s.program = a.program;
      s.core = a.core;
      s.background = a.background;
      s.runnable = a.runnable;
      s.movable = a.movable;
      s.ran_s = a.runnable ? length_s / static_cast<double>(sharing) : 0.0;
      s.waited_s = a.runnable ? length_s - s.ran_s : 0.0;
      if (rates) {
        s.misses = std::min(a.demand_per_s,
                            core_per_s[a.core] /
                                static_cast<double>(std::max<std::ptrdiff_t>(1, sharing))) *
                   length_s;
        s.miss_ratio = a.kind == thread_class::memory ? 0.4 : 0.02;
      } else {
        s.told = a.kind;
      }
      o.threads.push_back(s);
    }
    return o;
  }

  /// Fails the test if a move names a thread that is not there, may not be moved or is elsewhere.
  void carry_out(const answer& a) {
    for (const move& m : a.moves) {
      ASSERT_LT(m.thread, actors.size());
      ASSERT_TRUE(actors[m.thread].alive) << "thread " << m.thread << " is gone";
      ASSERT_TRUE(actors[m.thread].movable) << "thread " << m.thread << " may not be moved";
      ASSERT_EQ(actors[m.thread].core, m.from);
      ASSERT_LT(m.to, core_per_s.size());
      actors[m.thread].core = m.to;
    }
  }
};

/// One thread on each of these cores of a machine of `of`.
inline world threads_on(const std::vector<core_id>& cores, std::size_t of) {
  world w{std::vector<double>(of, 1.0), {}};
  for (const core_id c : cores) w.actors.push_back({.core = c});
  return w;
}

}  // namespace kilter::balance::test
