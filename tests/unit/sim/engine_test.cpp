// Runs that can be computed by hand, and what must hold of every run.
#include "sim/engine.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "kilter/error.hpp"
#include "unit/sim/world.hpp"

namespace kilter::sim {
namespace {

using namespace test;

/// One critical task a layer releases the next layer.
void add_layers(graph& g, int layers, int width) {
  task head = g.add({.priority = priority::high}, nothing);
  for (int l = 0; l < layers; ++l) {
    task next;
    for (int i = 0; i < width; ++i) {
      const task t = g.add({.priority = i == 0 ? priority::high : priority::low}, nothing);
      g.edge(head, t);
      if (i == 0) next = t;
    }
    head = next;
  }
}

TEST(engine, a_chain_takes_the_sum_of_its_tasks) {
  const platform p = plain(1);
  engine e(p, with("rws", p));
  graph g;
  add_chain(g, 10);
  const execution_stats s = e.run(g, works(g));
  EXPECT_NEAR(s.seconds, 10e-3, 1e-11);
  EXPECT_EQ(s.tasks, 10u);
  EXPECT_NEAR(s.core_work_s[0], 10e-3, 1e-11);
  EXPECT_NEAR(e.run(g, works(g)).seconds, 10e-3, 1e-11)
      << "a graph runs as often as wanted, and the clock goes on";
}

TEST(engine, overheads_are_paid_where_they_arise) {
  platform p = plain(1);
  p.costs.wake_s = 1e-5;
  p.costs.push_s = 1e-4;
  engine e(p, with("rws", p));
  graph g;
  add_chain(g, 10);
  EXPECT_NEAR(e.run(g, works(g)).seconds, 10e-3 + 9 * (1e-5 + 1e-4), 1e-10)
      << "nine children were woken and pushed; the root came from outside";
}

/// Layers for each of two parts of four cores, and edges between them; types of each part's own.
/// Homes as engine_options::apart wants them.
const std::vector<home_cores> halves{home_cores(0, 4), home_cores(4, 4)};
void add_two_parts(graph& g) {
  const task_type types[] = {g.type("left"), g.type("right")};
  std::vector<task> before;
  for (int layer = 0; layer < 60; ++layer) {
    std::vector<task> now;
    for (int i = 0; i < 12; ++i) {
      const int part = i < 9 ? 0 : 1;  // three quarters of the work on the left
      now.push_back(g.add({.type = types[part],
                           .priority = i % 6 == 0 ? priority::high : priority::low,
                           .home = halves[part]},
                          nothing));
      if (layer > 0) g.edge(before[(i + 5) % 12], now.back());
    }
    before = now;
  }
}

TEST(engine, parts_of_a_machine_share_neither_tasks_nor_what_was_learned) {
  const platform p = plain(8, 2);
  for (const char* policy : {"rws", "rwsm-c", "da", "dam-c", "dam-p"})
    for (const bool robust : {false, true}) {
      engine_options o = with(policy, p);
      if (robust) o.table = {};
      const double together_s = [&] {
        graph g;
        add_two_parts(g);
        return engine(p, o).run(g, works(g)).seconds;
      }();
      o.apart = halves;
      o.finished = [&](const sim_assembly& a, core_id last) {
        const bool left = detail::graph_of(a.task).kinds[a.task->kind].home.first() == 0;
        for (const member_time& m : a.times) EXPECT_EQ(m.core < 4, left) << policy;
        EXPECT_EQ(last < 4, left) << policy;
      };
      graph g;
      add_two_parts(g);
      engine e(p, o);
      const execution_stats s = e.run(g, works(g));
      EXPECT_EQ(s.tasks, 720u) << policy;
      EXPECT_GE(s.seconds, 540 * 1e-3 / 4) << policy << ": the right half helped";
      if (std::string_view(policy) == "rws") {
        EXPECT_LT(together_s, s.seconds);
      } else {
        EXPECT_FALSE(e.learned().snapshot().empty());
      }
      for (const model::cell_snapshot& c : e.learned().snapshot())
        EXPECT_EQ(p.cores->at(c.where).leader < 4, e.learned().row_name(c.row) == "left") << policy;
      graph again;
      add_two_parts(again);
      EXPECT_EQ(engine(p, o).run(again, works(again)).seconds, s.seconds) << policy;
    }
}

TEST(engine, refuses_to_keep_apart_what_a_policy_shares) {
  const platform p = plain(8, 2);
  const auto run = [&](const char* policy, const std::vector<home_cores>& apart, bool at_home) {
    engine_options o = with(policy, p);
    o.apart = apart;
    graph g;
    if (at_home)
      add_two_parts(g);
    else
      add_chain(g, 3);
    (void)engine(p, o).run(g, works(g));
  };
  for (const char* policy : {"fifo", "auto", "heft"})
    EXPECT_THROW(run(policy, halves, true), input_error) << policy;
  EXPECT_THROW(run("random", halves, true), input_error) << "it sends tasks anywhere";
  EXPECT_THROW(run("rws", halves, false), usage_error) << "tasks without a home";
}

TEST(engine, a_task_waits_on_its_home_core) {
  const platform p = plain(4);
  engine e(p, with("rws", p));
  graph g;
  const task root = g.add({.home = 2}, nothing);
  const execution_stats alone = e.run(g, works(g));
  EXPECT_NEAR(alone.core_work_s[2], 1e-3, 1e-11);
  const task child = g.add({.home = 1}, nothing);
  g.edge(root, child);
  const execution_stats both = e.run(g, works(g));
  EXPECT_NEAR(both.core_work_s[2], 1e-3, 1e-11);
  EXPECT_NEAR(both.core_work_s[1], 1e-3, 1e-11);
  g.add({.home = 4}, nothing);
  EXPECT_THROW(e.run(g, works(g)), usage_error);
}

TEST(engine, independent_tasks_share_the_cores) {
  const platform p = plain(4);
  engine e(p, with("rws", p));
  graph g;
  for (int i = 0; i < 400; ++i) g.add(nothing);
  const execution_stats s = e.run(g, works(g));
  EXPECT_NEAR(s.seconds, 0.1, 1e-3);
  EXPECT_NEAR(std::accumulate(s.core_work_s.begin(), s.core_work_s.end(), 0.0), 0.4, 1e-9)
      << "work is conserved";
  EXPECT_GE(s.steals, 3u);
}

TEST(engine, a_wide_task_uses_its_members) {
  const platform p = plain(4);
  engine e(p, with("dam-p", p));
  graph g;
  const std::uint32_t four[] = {4};
  add_chain(g, 8, {.priority = priority::high, .widths = four});
  const execution_stats s = e.run(g, works(g));
  EXPECT_NEAR(s.seconds, 2e-3, 1e-7);
  for (const double work_s : s.core_work_s) EXPECT_NEAR(work_s, 2e-3, 1e-7);
}

TEST(engine, members_that_find_all_pieces_taken_do_not_help) {
  const platform p = plain(4);
  std::uint32_t entered = 0;
  engine_options o = with("dam-p", p);
  o.finished = [&](const sim_assembly& a, core_id) {
    entered = static_cast<std::uint32_t>(a.times.size());
  };
  engine e(p, o);
  graph g;
  const std::uint32_t four[] = {4};
  add_chain(g, 8, {.priority = priority::high, .widths = four});
  auto types = works(g);
  for (type_work& t : types) t.chunks = 2;
  EXPECT_NEAR(e.run(g, types).seconds, 4e-3, 1e-7) << "two of the four do all the work";
  EXPECT_EQ(entered, 2u);
}

// X22: eight blocks a task, however wide it is
TEST(engine, of_fewer_blocks_each_is_longer_to_wait_for) {
  const platform p = plain(2, 1, 32e-3);
  engine_options o = with("dam-p", p);
  o.blocks = block_count::task;
  o.disturbances = {{.cores = {0}, .slice_s = 100e-3, .offset_s = 8e-3}};
  std::vector<member_time> seen;
  std::vector<double> came;
  o.finished = [&](const sim_assembly& a, core_id) {
    seen = a.times;
    came = a.came_s;
  };
  engine e(p, o);
  graph g;
  const std::uint32_t two[] = {2};
  add_chain(g, 1, {.priority = priority::high, .widths = two});
  (void)e.run(g, works(g));
  // Of the half that is left core 0 holds half a block of eight, a 16th; the rest takes core 1 14
  // ms.
  ASSERT_EQ(seen.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_NEAR(came[i] + seen[i].seconds, seen[i].core == 1 ? 22e-3 : 110e-3, 1e-9);
}

TEST(engine, nobody_steals_from_cores_that_are_spared) {
  const platform p = plain(4);
  for (const core_id spared : {0u, 2u}) {
    engine_options o = with("rws", p);
    o.spared = spared;
    engine e(p, o);
    graph g;
    for (int i = 0; i < 400; ++i) g.add(nothing);
    const execution_stats s = e.run(g, works(g), 0);
    EXPECT_NEAR(s.seconds, spared == 0 ? 0.1 : 0.4, 1e-3);
    EXPECT_EQ(s.steals == 0, spared != 0);
  }
}

// Blocks are handed out as members ask (papers.md A0), so what a member had begun when it lost its
// core waits for that core.
TEST(engine, a_member_that_loses_its_core_keeps_the_block_it_had_begun) {
  const platform p = plain(2, 1, 32e-3);
  engine_options o = with("dam-p", p);
  o.disturbances = {{.cores = {0}, .slice_s = 100e-3, .offset_s = 8e-3}};
  std::vector<member_time> seen;
  std::vector<double> came;
  o.finished = [&](const sim_assembly& a, core_id last) {
    EXPECT_EQ(last, 0u) << "who ends the last block releases the successors";
    seen = a.times;
    came = a.came_s;
  };
  engine e(p, o);
  graph g;
  const std::uint32_t two[] = {2};
  add_chain(g, 1, {.priority = priority::high, .widths = two});
  const execution_stats s = e.run(g, works(g));
  // Half of the work is done by 8 ms. Of the other half core 0 holds half a block of sixteen, a
  // 32nd; the rest takes core 1 15 ms.
  ASSERT_EQ(seen.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_NEAR(came[i] + seen[i].seconds, seen[i].core == 1 ? 23e-3 : 109e-3, 1e-9);
  EXPECT_NEAR(s.seconds, 109e-3, 1e-9) << "the co-runner's slice ends at 108 ms";
}

TEST(engine, a_worker_between_two_tries_hears_of_a_task_bound_to_it) {
  const platform p = plain(6, 2);
  for (const char* name : {"fa", "fam-c", "da", "dam-c", "dam-p"})
    for (const victims from : {victims::richest, victims::cluster_first}) {
      policy_options settings;
      settings.forward_child = false;
      settings.steal_from = from;
      engine e(p, {.policy = make_policy(name, *p.cores, settings)});
      graph g;
      add_layers(g, 50, 2);
      EXPECT_EQ(e.run(g, works(g)).tasks, 101u) << name;
    }
}

TEST(engine, of_several_idle_workers_the_first_steals_if_that_is_asked_for) {
  const platform p = plain(6, 2);
  engine_options o = with("rws", p);
  o.first_thief = true;
  std::vector<int> ran(6, 0);
  o.finished = [&](const sim_assembly& a, core_id) { ++ran[a.at.leader]; };
  engine e(p, o);
  graph g;
  add_layers(g, 200, 2);
  e.run(g, works(g));
  EXPECT_GT(ran[0] + ran[1], 250);
  for (core_id c = 3; c < 6; ++c)
    EXPECT_LE(ran[c], 2) << "of two tasks at once, one may end while the other's core has still to "
                            "steal: never more than three cores";
}

TEST(engine, members_that_need_each_other_wait_for_the_last) {
  const platform p = plain(2);
  engine e(p, with("rwsm-c", p));
  graph g;
  const std::uint32_t two[] = {2};
  for (int i = 0; i < 50; ++i) {
    g.add({.widths = two, .all_members = true}, nothing);
    g.add({.size_class = 1}, nothing);
  }
  EXPECT_EQ(e.run(g, works(g)).tasks, 100u);
}

TEST(engine, a_sliced_co_runner_leaves_half_and_its_slices_are_seen_as_long_samples) {
  const platform p = plain(1);
  engine_options o = with("rws", p);
  o.disturbances = {{.cores = {0}, .slice_s = 9e-3, .offset_s = 9e-3}};
  std::vector<double> seen;
  o.finished = [&](const sim_assembly& a, core_id) { seen.push_back(a.times.front().seconds); };
  engine e(p, o);
  graph g;
  add_chain(g, 90);
  const execution_stats s = e.run(g, works(g));
  EXPECT_NEAR(s.seconds, 0.090 + 0.081, 1e-9)
      << "ten slices of nine tasks, nine of the co-runner's between them";
  int normal = 0, longer = 0;
  for (const double t : seen) (t < 1.0001e-3 ? normal : longer) += 1;
  EXPECT_EQ(normal + longer, 90);
  EXPECT_LE(longer, 9);
  EXPECT_GE(normal, 81) << "not a steady factor of two (papers.md B1)";
  EXPECT_NEAR(e.co_runner(0).got_s / e.co_runner(0).there_s, 0.5, 0.06);
}

TEST(engine, a_fluid_share_slows_every_task_alike) {
  const platform p = plain(1);
  engine_options o = with("rws", p);
  o.disturbances = {{.what = disturbance::kind::capacity, .cores = {0}, .left = 0.25}};
  engine e(p, o);
  graph g;
  add_chain(g, 5);
  EXPECT_NEAR(e.run(g, works(g)).seconds, 20e-3, 1e-9);
}

TEST(engine, a_clock_wave_takes_effect_after_its_transition_at_the_nearest_step) {
  platform p = plain(1);
  p.clocks[0] = {.mhz = {500, 1000, 2000}, .transition_s = 1e-3};
  engine_options o = with("rws", p);
  o.disturbances = {
      {.what = disturbance::kind::clock, .cores = {0}, .left = 0.27, .half_period_s = 5e-3}};
  engine e(p, o);
  graph g;
  add_chain(g, 7);
  EXPECT_NEAR(e.run(g, works(g)).seconds, 6e-3 + 4e-3, 1e-9)
      << "six at full clock, the seventh at 500 MHz";
}

TEST(engine, critical_tasks_leave_the_disturbed_core) {
  const platform p = plain(2);
  for (const table_options& table : {table_options::paper(), table_options::robust()}) {
    engine_options o = with("dam-c", p);
    o.table = table;
    o.disturbances = {{.what = disturbance::kind::capacity, .cores = {0}, .left = 0.5}};
    engine e(p, o);
    graph g;
    add_layers(g, 2000, 2);
    const execution_stats s = e.run(g, works(g), 0);
    std::uint64_t on_0 = 0, all = 0;
    for (place_id at = 0; at < s.places.size(); ++at) {
      all += s.places[at].critical;
      if (p.cores->at(at).contains(0)) on_0 += s.places[at].critical;
    }
    EXPECT_EQ(all, 2001u);
    EXPECT_LT(on_0, all / 10) << (table.two_factors ? "robust" : "paper");
  }
}

TEST(engine, the_same_seed_gives_the_same_run_and_another_seed_another) {
  platform p = plain(4, 2);
  p.noise_sigma = 0.05;
  const auto run = [&](std::uint64_t seed) {
    engine_options o = with("dam-c", p);
    o.seed = seed;
    engine e(p, o);
    graph g;
    add_layers(g, 300, 4);
    return e.run(g, works(g)).seconds;
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

// One draw for the next success, or a draw for each try of each thief: the same distribution.
TEST(engine, drawing_only_successful_steals_changes_nothing) {
  platform p = plain(8, 1, 1e-5);
  p.costs.steal_try_s = 2e-6;
  p.costs.steal_s = 1e-6;
  p.noise_sigma = 0.1;
  const auto mean_s = [&](bool every_try) {
    double sum = 0, square = 0;
    constexpr int runs = 60;
    for (int seed = 0; seed < runs; ++seed) {
      engine_options o = with("rws", p);
      o.seed = static_cast<std::uint64_t>(seed) + (every_try ? 1000 : 0);
      o.every_try = every_try;
      engine e(p, o);
      graph g;
      add_layers(g, 200, 6);
      const double s = e.run(g, works(g)).seconds;
      sum += s;
      square += s * s;
    }
    const double mean = sum / runs;
    return std::pair{mean, std::sqrt((square / runs - mean * mean) / runs)};
  };
  const auto [one, one_error] = mean_s(false);
  const auto [other, other_error] = mean_s(true);
  EXPECT_NEAR(one, other, 4 * std::sqrt(one_error * one_error + other_error * other_error));
  EXPECT_LT(one_error / one, 0.01) << "or the comparison above says nothing";
}

TEST(engine, says_what_it_cannot_run) {
  const platform p = plain(1);
  engine e(p, with("rws", p));
  graph g;
  add_chain(g, 2);
  EXPECT_THROW(e.run(g, std::vector<type_work>(1, {"unknown", 1.0})), input_error);
  engine_options o = with("rws", p);
  o.horizon_s = 1e-3;
  engine brief(p, o);
  EXPECT_THROW(brief.run(g, works(g)), input_error);
}

/// Times beyond what virtual time can hold: they once wrapped around, and a task ended before it
/// began.
TEST(engine, a_task_of_many_years_passes_the_horizon) {
  const platform p = plain(1);
  for (const double seconds : {5e6, 1e12, 1e300}) {
    engine_options o = with("rws", p);
    o.horizon_s = 1e300;
    engine e(p, o);
    graph g;
    add_chain(g, 2);
    const std::vector<type_work> work(1, {.kernel = "matmul", .size = 64.0, .fixed_s = seconds});
    SCOPED_TRACE(seconds);
    expect_names(refusal([&] { e.run(g, work); }),
                 {"virtual time passed the horizon of 4611686.01842"});
  }
}

}  // namespace
}  // namespace kilter::sim
