// The runtime on machines that are not here: what was run, where, and that nothing was faster than
// the model.

#include "measuring/emulation.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "kilter/error.hpp"
#include "unit/lab/experiments.hpp"

namespace kilter::lab {
namespace {

specification small(const std::string& on) {
  specification a;
  a.work = make_workload("layered", {{"tasks", "31"}, {"parallelism", "3"}});
  a.on = read_engine("--on", on);
  a.policy_lists = read_policies({"rws,dam-p"});
  a.table = table_mode::paper;
  a.repeats = 1;
  a.details = false;
  return a;
}

experiment_result emulated(const specification& a) {
  progress quiet(1, true);
  emulation e(plan(a), quiet);
  e.run();
  return e.result();
}

std::uint64_t counted(const run_row& r) {
  std::uint64_t all = 0;
  for (const auto& p : r.stats.places) all += p.critical + p.other;
  return all;
}

// Grids have no noise, so the bound is one.
TEST(emulation, runs_every_task_once_and_none_faster_than_the_model) {
  for (const char* on : {"emulate:grid:1x2,1", "emulate:grid:2x2,2"}) {
    specification a = small(on);
    a.disturb = test::scenarios({"share@0:50%"});
    const experiment_result r = emulated(a);
    ASSERT_TRUE(r.complete);
    ASSERT_EQ(r.runs.size(), 4u);
    for (const run_row& row : r.runs) {
      EXPECT_EQ(row.stats.tasks, 31u) << row.policy;
      EXPECT_EQ(counted(row), 31u) << row.policy;
      EXPECT_GE(row.stats.seconds, row.bound_s * (1.0 - 1e-6))
          << on << " " << row.policy << " " << row.disturb;
      EXPECT_GT(row.bound_s, 11 * 0.5e-3) << "eleven layers of 1 ms at two cores";
    }
    ASSERT_TRUE(r.emulation);
    EXPECT_EQ(r.emulation->late.tasks, 4 * 31u);
    EXPECT_GE(r.emulation->late.late_s, 0.0);
    // Of each task at least half a millisecond, that is on both cores of a place.
    EXPECT_GE(r.emulation->late.modelled_s, 4 * 31 * 0.5e-3 * (1.0 - 1e-6));
    EXPECT_NE(r.notes.back().find("Emulated"), std::string::npos);
  }
}

TEST(emulation, a_chain_on_half_a_core_takes_twice_as_long) {
  specification a = small("emulate:grid:1x1,1");
  a.work = make_workload("layered", {{"tasks", "30"}, {"parallelism", "1"}});
  a.policy_lists = read_policies({"rws"});
  a.disturb = test::scenarios({"share@0:50%", "wave@0:50%,0.02", "cpu@0"});
  const experiment_result r = emulated(a);
  ASSERT_EQ(r.runs.size(), 4u);
  EXPECT_GE(r.runs[0].stats.seconds, 0.030);
  EXPECT_GE(r.runs[1].stats.seconds, 0.060);
  EXPECT_GE(r.runs[2].stats.seconds, 0.040);  // 20 ms at full speed, then ten tasks at half of it
  EXPECT_GE(r.runs[3].stats.seconds, 0.050);  // wherever the co-runner's first slice of 4 ms begins
  EXPECT_FALSE(r.runs[0].disturber_progress);
  EXPECT_TRUE(r.runs[3].disturber_progress);
}

TEST(emulation, has_the_places_of_the_platform_and_its_slow_cores) {
  specification a = small("emulate:jetson-tx2");
  a.details = true;
  a.disturb = test::scenarios({"freq@0-1:50%"});
  a.policy_lists = read_policies({"dam-c"});
  const experiment e = plan(a);
  ASSERT_EQ(e.machine->core_count(), 6u);
  const experiment_result r = emulated(a);
  ASSERT_EQ(r.runs.size(), 2u);
  for (const run_row& row : r.runs) {
    ASSERT_EQ(row.stats.places.size(), e.machine->places().size());
    EXPECT_EQ(counted(row), 31u);
    EXPECT_GT(row.stats.seconds, 0.9 * row.bound_s) << "but for noise";
  }
  EXPECT_GT(r.runs[1].bound_s, 1.2 * r.runs[0].bound_s);
  ASSERT_EQ(r.details.size(), 2u);
  for (const detail& d : r.details) {
    for (const trace::event& t : d.events) {
      if (t.kind != trace::event_kind::task) continue;
      EXPECT_LT(t.core, 6u);
      // 2.97 ms on one slow core.
      if (t.leader < 2 || t.width > 1) continue;
      EXPECT_GT(t.end_ns - t.start_ns, 2'500'000);
    }
  }
}

TEST(emulation, workloads_that_cannot_run_natively_run) {
  specification a;
  a.work = make_workload("heat", {{"iterations", "2"},
                                  {"rows", "512"},
                                  {"columns", "512"},
                                  {"ranks", "2"},
                                  {"tasks_per_rank", "3"}});
  a.on = read_engine("--on", "emulate:haswell-cluster,1");
  a.policy_lists = read_policies({"dam-c"});
  a.repeats = 1;
  a.details = false;
  const experiment_result r = emulated(a);
  ASSERT_EQ(r.runs.size(), 1u);
  EXPECT_EQ(r.runs[0].stats.tasks, 2 * 2 * 4u);
}

TEST(emulation, the_shortest_task_decides_the_scale) {
  EXPECT_EQ(emulation_scale(2e-3), 1.0);
  EXPECT_EQ(emulation_scale(1.9e-3), 2.0);
  EXPECT_EQ(emulation_scale(0.5e-3), 4.0);
  EXPECT_EQ(emulation_scale(0.0), 1.0);
  graph g;
  const sim::platform p = sim::platform::load("grid:1x4");
  const task_graph made =
      build(g, make_workload("layered", {{"tasks", "5"}, {"parallelism", "2"}}), p);
  EXPECT_DOUBLE_EQ(shortest_task_s(g, made, p), 0.25e-3);
}

TEST(emulated_machine, tells_the_time_that_a_core_gave_to_its_worker) {
  const sim::platform p = sim::platform::load("grid:1x2");
  emulated_machine m(
      {.platform = p,
       .scale = 2.0,
       .disturbances = {{.what = sim::disturbance::kind::capacity, .cores = {0}, .left = 0.25}}},
      {});
  const auto before = std::chrono::steady_clock::now();
  m.begin();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const std::int64_t whole_first = m.cpu_nanoseconds(1), part = m.cpu_nanoseconds(0),
                     whole = m.cpu_nanoseconds(1);
  const auto passed = std::chrono::steady_clock::now() - before;
  EXPECT_GE(whole_first, 10'000'000);
  EXPECT_LE(std::chrono::nanoseconds(2 * whole), passed);
  EXPECT_GE(part, whole_first / 4);
  EXPECT_LE(part, whole / 4 + 1);
}

TEST(emulated_machine, a_sliced_co_runner_has_the_core_alone) {
  const sim::platform p = sim::platform::load("grid:1x2");
  emulated_machine m(
      {.platform = p,
       .disturbances = {{.what = sim::disturbance::kind::sliced, .cores = {0}, .slice_s = 10.0}}},
      {});
  EXPECT_TRUE(m.has_core(0)) << "time has not begun";
  m.begin();
  EXPECT_FALSE(m.has_core(0));
  EXPECT_TRUE(m.has_core(1));
  std::thread worker([&] { m.wait_for_core(0); });
  m.end();
  worker.join();
  EXPECT_TRUE(m.has_core(0));
}

TEST(plan, refuses_platforms_and_scales_that_cannot_be_emulated) {
  const auto refusal = [](const std::string& on) -> std::string {
    try {
      (void)plan(small(on));
    } catch (const input_error& e) {
      return e.what();
    }
    return "accepted";
  };
  for (const char* scale : {"0", "-1", "x", "", "1e9", "nan", "4x"}) {
    const std::string why = refusal(std::string("emulate:jetson-tx2,") + scale);
    EXPECT_NE(why.find("SCALE '" + std::string(scale) + "'"), std::string::npos) << why;
  }
  EXPECT_NE(refusal("emulate:").find("emulate:PLATFORM[,SCALE]"), std::string::npos);
  EXPECT_NE(refusal("emulate:jetson-tx3").find("jetson-tx3"), std::string::npos);
  EXPECT_EQ(plan(small("emulate:jetson-tx2,2.5")).on.scale, 2.5);
}

}  // namespace
}  // namespace kilter::lab
