// Schedulers of threads in the simulator: the programs of S3 and S4, the machines, and what is measured.

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "kilter/error.hpp"
#include "lab/experiment_file.hpp"
#include "lab/thread_measures.hpp"
#include "lab/thread_platforms.hpp"
#include "lab/thread_programs.hpp"
#include "lab/thread_run.hpp"

namespace kilter::lab {
namespace {

/// Without noise, so that closed forms hold.
thread_platform quiet(const std::string& name, const std::string& clocks) {
  thread_platform p = thread_platform_of(name, clocks);
  p.simulated.sigma = p.simulated.counter_sigma = 0.0;
  p.simulated.wake_s = p.simulated.pause_every_s = 0.0;
  return p;
}

double seconds(const std::string& program, const std::string& clocks, const std::string& policy, std::uint64_t seed = 1) {
  return run_thread_programs(quiet("xeon-e5320", clocks), thread_programs_of(program), policy, {}, seed).end_s;
}

TEST(thread_programs, longest_first_gives_the_closed_form_through_the_scheduler) {
  for (const auto& [program, ratio] : {std::pair{"matmul-300-300", 1.16875}, {"matmul-310-290", 1.0933}, {"matmul-320-280", 1.0227}, {"matmul-330-270", 1.0},
                                       {"matmul-360-240", 1.0}})
    EXPECT_NEAR(seconds(program, "half-half", "ljfpf") / seconds(program, "all-fast", "none"), ratio, 1e-4) << program;
}

TEST(thread_programs, long_sections_on_fast_cores_shorten_the_run) {
  double random_s = 0.0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) random_s += seconds("global-sum-40-60", "half-half", "none", seed) / 10;
  EXPECT_LT(seconds("global-sum-40-60", "half-half", "cjfpf"), random_s);
}

TEST(thread_programs, every_name_gives_programs_that_run) {
  std::vector<std::string> names{"itk", "global-sum-10", "jacobi"};
  for (const char* set : {"parsec", "class-b", "class-uc", "class-um"})
    for (const std::string& one : members_of(set)) names.push_back(one);
  EXPECT_EQ(names.size(), 3u + 12 + 16);
  const std::set<std::string> workloads(names.begin(), names.end());
  for (const std::string& name : names) {
    const auto programs = thread_programs_of(name);
    const bool contended = name.starts_with("wl") || name == "jacobi";
    const auto r = run_thread_programs(thread_platform_of(contended ? "dike-xeon" : "xeon-e5320", "half-half"), programs, "none", {}, 1);
    EXPECT_GT(r.end_s, 0.0) << name;
    EXPECT_EQ(r.benchmarks.size(), name.starts_with("wl") ? 4u : 1u) << name;
  }
  for (const char* wrong : {"matmul", "matmul-300", "matmul-300-", "global-sum-100", "wl0", "wl17", "jacob"})
    EXPECT_THROW((void)thread_programs_of(wrong), input_error) << wrong;
}

TEST(thread_programs, s4_has_as_many_memory_threads_as_it_says) {
  for (const auto& [set, memory] : {std::pair{"class-b", 16u}, {"class-uc", 8u}, {"class-um", 24u}})
    for (const std::string& name : members_of(set)) {
      std::size_t m = 0, all = 0;
      for (const sim::thread_program& p : thread_programs_of(name)) {
        if (p.background) continue;
        all += p.groups[0].threads.size();
        if (p.demands[1].miss_ratio > 0.1) m += p.groups[0].threads.size();
      }
      EXPECT_EQ(m, memory) << name;
      EXPECT_EQ(all, 32u) << name;
    }
}

TEST(thread_platforms, have_fast_cores_first_and_name_what_is_wrong) {
  const auto p = thread_platform_of("dike-xeon", "half-half");
  EXPECT_EQ(p.cores->core_count(), 40u);
  EXPECT_EQ(p.cores->fastest_cores().size(), 20u);
  EXPECT_EQ(p.simulated.cores[3].sibling, 13u);
  EXPECT_EQ(p.simulated.cores[39].sibling, 29u);
  EXPECT_EQ(thread_platform_of("xeon-e5320", "one-fast").cores->fastest_cores().size(), 1u);
  EXPECT_THROW((void)thread_platform_of("jetson-tx2", "half-half"), input_error);
  EXPECT_THROW((void)thread_platform_of("dike-xeon", "one-fast"), input_error);
  EXPECT_THROW((void)thread_platform_of("dike-xeon", "half-half", "both"), input_error);
}

TEST(thread_runs, are_the_same_for_a_seed_and_swap_what_the_scheduler_says) {
  const auto on = thread_platform_of("dike-xeon", "half-half");
  const auto programs = thread_programs_of("wl2");
  const auto a = run_thread_programs(on, programs, "dio", {}, 4), b = run_thread_programs(on, programs, "dio", {}, 4);
  const auto c = run_thread_programs(on, programs, "dio", {}, 5);
  EXPECT_EQ(a.end_s, b.end_s);
  EXPECT_EQ(a.swaps, b.swaps);
  EXPECT_NE(a.end_s, c.end_s);
  EXPECT_GE(a.moves, 2 * a.swaps);
  EXPECT_LE(a.swaps, 16 * a.quanta);
  EXPECT_EQ(run_thread_programs(on, programs, "none", {}, 4).swaps, 0u);
}

TEST(thread_runs, fairness_is_one_where_threads_take_equally_long) {
  const auto r = run_thread_programs(quiet("dike-xeon", "all-fast"), thread_programs_of("leukocyte"), "none", {}, 2);
  EXPECT_GT(r.fairness(), 0.8);
  EXPECT_LE(r.fairness(), 1.0);
  EXPECT_NEAR(r.slowdown_ratio(), 1.0, 1e-9);   // a core for each, and the same work
  EXPECT_TRUE(std::isnan(r.time_s("jacobi")));
  EXPECT_NEAR(r.time_s("leukocyte"), r.mean_time_s(), 1e-9);
}

constexpr const char* file = R"(
schema = "kilter.experiment/1"
name = "x"
title = "x"
source = "S4"
[[scenario]]
name = "s"
platform = "dike-xeon"
workload = "threads"
program = ["wl1", "wl2"]
clocks = "half-half"
policies = ["none", "dike"]
quantum = [100, 500]
swap_size = [4, 8]
[[claim]]
id = "X-1"
source = "S4"
statement = "x"
[[claim.case]]
of = { MEASURE }
relation = "gt"
reference = 1.0
margin = 0.01
reason = "by one percent"
)";

std::string with(std::string of) {
  std::string text = file;
  return text.replace(text.find("MEASURE"), 7, of);
}

void refuses(const std::string& text, const std::string& what) {
  try {
    (void)parse_experiment(text, "x.toml");
    FAIL() << "read, though " << what;
  } catch (const input_error& e) {
    EXPECT_NE(std::string(e.what()).find(what), std::string::npos) << e.what();
  }
}

TEST(thread_experiments, are_read_like_the_others) {
  const auto f = parse_experiment(with("measure = \"fairness\", policy = \"dike\""), "x.toml");
  EXPECT_EQ(f.claims[0].cases.size(), 2u * 2 * 2);
  refuses(with("measure = \"makespan\""), "of runs of tasks");
  refuses(with("measure = \"benchmark_time\""), "needs 'benchmark'");
  refuses(with("measure = \"fairness\", benchmark = \"jacobi\""), "takes no 'benchmark'");
  refuses(with("measure = \"fairness\", policy = \"dam-c\""), "dam-c");
  std::string wrong = with("measure = \"fairness\"");
  refuses(wrong.replace(wrong.find("\"wl1\""), 5, "\"wl0\""), "wl0");
}

TEST(thread_experiments, may_be_read_differently_without_touching_those_of_tasks) {
  std::vector<experiment_file> files{parse_experiment(with("measure = \"fairness\""), "x.toml")};
  read_differently(files, "sides=fast,memory=slow,children=forward");
  EXPECT_EQ(files[0].scenarios[0].parameters.at("sides"), "fast");
  EXPECT_EQ(files[0].scenarios[0].parameters.at("memory"), "slow");
  EXPECT_FALSE(files[0].scenarios[0].parameters.contains("children"));
  EXPECT_THROW(read_differently(files, "sides=slow"), input_error);
  EXPECT_THROW(read_differently(files, "quantum=100"), input_error);
}

TEST(thread_experiments, a_set_is_the_mean_of_its_members_and_a_sweep_looks_at_every_configuration) {
  const auto text = with("measure = \"sweep_fairness_of_default\", program = \"wl1\", policy = \"dike\", quantum = 500, swap_size = 8");
  const auto f = parse_experiment(text, "x.toml");
  const experiment_scenario& s = f.scenarios[0];
  cell c = f.claims[0].cases[0].of.left[0];
  EXPECT_EQ(thread_runs_behind(s, c).size(), 4u);
  // Eight threads of one benchmark, one of which is later the longer the quantum: fairness falls with it, and 500 ms is below the best.
  std::vector<thread_run> made(1);
  const auto runs = [&](const selection& run) -> const std::vector<thread_run>& {
    made[0].benchmarks = {{"b", {1.0, 1.0 + std::stod(run.at("quantum")) / 1000.0}}};
    made[0].swaps = run.at("program") == "wl1" ? 10 : 30;
    return made;
  };
  const double best = 1.0 - 0.05 / 1.05, standard = 1.0 - 0.25 / 1.25;
  EXPECT_NEAR(thread_values(s, c, runs).at(0), standard / best, 1e-12);
  c.measure = "swaps";
  c.run["program"] = "class-b";
  EXPECT_EQ(thread_runs_behind(s, c).size(), 6u);
  EXPECT_NEAR(thread_values(s, c, runs).at(0), (10 + 5 * 30) / 6.0, 1e-12);
}

}  // namespace
}  // namespace kilter::lab
