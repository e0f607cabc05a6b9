// Schedulers of threads in the simulator: the programs of S3 and S4, the machines, and what is
// measured.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "balance/symmetry.hpp"
#include "claims/experiment_file.hpp"
#include "claims/readings.hpp"
#include "claims/thread_measures.hpp"
#include "kilter/error.hpp"
#include "threads/thread_platforms.hpp"
#include "threads/thread_programs.hpp"
#include "threads/thread_run.hpp"

namespace kilter::lab {
namespace {

/// Without noise, so that closed forms hold.
thread_platform quiet(const std::string& name, const std::string& clocks) {
  thread_platform p = thread_platform_of(name, clocks);
  p.simulated.sigma = p.simulated.counter_sigma = 0.0;
  p.simulated.wake_s = p.simulated.pause_every_s = 0.0;
  return p;
}

double seconds(const std::string& program, const std::string& clocks, const std::string& policy,
               std::uint64_t seed = 1) {
  return run_thread_programs(quiet("xeon-e5320", clocks), thread_programs_of(program), policy, {},
                             seed)
      .end_s;
}

TEST(thread_programs, longest_first_gives_the_closed_form_through_the_scheduler) {
  for (const auto& [program, ratio] : {std::pair{"matmul-300-300", 1.16875},
                                       {"matmul-310-290", 1.0933},
                                       {"matmul-320-280", 1.0227},
                                       {"matmul-330-270", 1.0},
                                       {"matmul-360-240", 1.0}})
    EXPECT_NEAR(seconds(program, "half-half", "ljfpf") / seconds(program, "all-fast", "none"),
                ratio, 1e-4)
        << program;
}

TEST(thread_programs, long_sections_on_fast_cores_shorten_the_run) {
  double random_s = 0.0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed)
    random_s += seconds("global-sum-40-60", "half-half", "none", seed) / 10;
  EXPECT_LT(seconds("global-sum-40-60", "half-half", "cjfpf"), random_s);
}

TEST(thread_programs, sections_may_be_a_part_of_the_whole_program) {
  // Of 1 ms outside and sections of 40 and 60 %: by thread 0.67 and 1.5 ms; of the program, whose
  // chunks take 2 ms in the mean, 0.8 and 1.2.
  const auto section_s = [](const program_reading& r, std::size_t thread) {
    return thread_programs_of("global-sum-40-60", r)
        .at(0)
        .groups.at(1)
        .threads.at(thread)
        .steps.at(2)
        .amount_s;
  };
  EXPECT_NEAR(section_s({}, 0), 2e-3 / 3, 1e-9);
  EXPECT_NEAR(section_s({}, 7), 1.5e-3, 1e-9);
  EXPECT_NEAR(section_s({.sections_of_program = true}, 0), 0.8e-3, 1e-9);
  EXPECT_NEAR(section_s({.sections_of_program = true}, 7), 1.2e-3, 1e-9);
}

TEST(thread_programs, every_name_gives_programs_that_run) {
  std::vector<std::string> names{"itk",
                                 "global-sum-10",
                                 "jacobi",
                                 "freqmine-asymmetric",
                                 "dedup-asymmetric",
                                 "ferret-asymmetric"};
  for (const char* set : {"parsec", "class-b", "class-uc", "class-um"})
    for (const std::string& one : members_of(set)) names.push_back(one);
  EXPECT_EQ(names.size(), 6u + 12 + 16);
  const std::set<std::string> workloads(names.begin(), names.end());
  for (const std::string& name : names) {
    const auto programs = thread_programs_of(name);
    const bool contended = name.starts_with("wl") || name == "jacobi";
    const auto r =
        run_thread_programs(thread_platform_of(contended ? "dike-xeon" : "xeon-e5320", "half-half"),
                            programs, "none", {}, 1);
    EXPECT_GT(r.end_s, 0.0) << name;
    EXPECT_EQ(r.benchmarks.size(), name.starts_with("wl") ? 4u : 1u) << name;
  }
  for (const char* wrong :
       {"matmul", "matmul-300", "matmul-300-", "global-sum-100", "wl0", "wl17", "jacob"})
    EXPECT_THROW((void)thread_programs_of(wrong), input_error) << wrong;
}

TEST(thread_programs, unequal_codes_are_as_unequal_as_table_4_prints) {
  struct row {
    const char* program;
    std::size_t threads;
    double sym_inst;
  };
  for (const row& r : {row{"freqmine-asymmetric", 8, 0.12}, row{"dedup-asymmetric", 25, 0.009},
                       row{"ferret-asymmetric", 36, 0.014}}) {
    const auto run = run_thread_programs(quiet("xeon-e5320", "all-fast"),
                                         thread_programs_of(r.program), "none", {}, 1);
    // ferret's 35 are not 5 equal groups and one
    EXPECT_EQ(run.sameness.work_s.size(), r.threads) << r.program;
    EXPECT_NEAR(balance::symmetry(run.sameness.work_s, run.sameness.group), r.sym_inst, 1e-9)
        << r.program;
  }
}

TEST(thread_programs, what_threads_use_is_counted_by_kind) {
  const auto sum = [](const std::vector<double>& all) {
    return std::reduce(all.begin(), all.end());
  };
  const auto fluidanimate = run_thread_programs(quiet("xeon-e5320", "all-fast"),
                                                thread_programs_of("fluidanimate"), "none", {}, 1)
                                .sameness;
  EXPECT_EQ(sum(fluidanimate.locks), 8 * 200);
  EXPECT_EQ(sum(fluidanimate.barriers), 8 * 400);
  EXPECT_EQ(sum(fluidanimate.primitives()), 8 * 600);
}

TEST(thread_programs,
     the_longest_thread_of_unequal_codes_decides_so_that_longest_first_is_as_fast_as_all_fast) {
  for (const char* program : {"freqmine-asymmetric", "dedup-asymmetric", "ferret-asymmetric"})
    EXPECT_NEAR(seconds(program, "half-half", "ljfpf") / seconds(program, "all-fast", "none"), 1.0,
                0.01)
        << program;
  EXPECT_GT(seconds("freqmine-asymmetric", "all-slow", "ljfpf") /
                seconds("freqmine-asymmetric", "all-fast", "none"),
            1.09);
}

TEST(thread_programs, more_work_takes_longer_and_more_demand_fills_the_memory) {
  const auto on = quiet("dike-xeon", "all-fast");
  const auto end_s = [&](const program_reading& r) {
    return run_thread_programs(on, thread_programs_of("stream_omp", r), "none", {}, 1).end_s;
  };
  EXPECT_NEAR(end_s({.work = 2.0}) / end_s({}), 2.0, 0.01);
  EXPECT_NEAR(end_s({.memory_demand = 1.25}) / end_s({}), 1.0, 1e-6);  // 40 GB/s of 50
  EXPECT_GT(end_s({.memory_demand = 2.0}), 1.2 * end_s({}));           // 64
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

TEST(thread_programs, a_workload_may_have_nothing_beside_it) {
  EXPECT_EQ(thread_programs_of("wl1").size(), 5u);
  EXPECT_EQ(thread_programs_of("wl1", {.kmeans = false}).size(), 4u);
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
  EXPECT_THROW((void)thread_platform_of("dike-xeon", "half-half", {.memory = "both"}), input_error);
}

TEST(thread_runs, are_the_same_for_a_seed_and_swap_what_the_scheduler_says) {
  const auto on = thread_platform_of("dike-xeon", "half-half");
  const auto programs = thread_programs_of("wl2");
  const auto a = run_thread_programs(on, programs, "dio", {}, 4),
             b = run_thread_programs(on, programs, "dio", {}, 4);
  const auto c = run_thread_programs(on, programs, "dio", {}, 5);
  EXPECT_EQ(a.end_s, b.end_s);
  EXPECT_EQ(a.swaps, b.swaps);
  EXPECT_NE(a.end_s, c.end_s);
  EXPECT_GE(a.moves, 2 * a.swaps);
  EXPECT_LE(a.swaps, 16 * a.quanta);
  EXPECT_EQ(run_thread_programs(on, programs, "none", {}, 4).swaps, 0u);
}

TEST(thread_runs, fairness_is_one_where_threads_take_equally_long) {
  const auto r = run_thread_programs(quiet("dike-xeon", "all-fast"),
                                     thread_programs_of("leukocyte"), "none", {}, 2);
  EXPECT_GT(r.fairness(), 0.8);
  EXPECT_LE(r.fairness(), 1.0);
  EXPECT_NEAR(r.slowdown_ratio(), 1.0, 1e-9);  // a core for each, and the same work
  EXPECT_TRUE(std::isnan(r.time_s("jacobi")));
  EXPECT_NEAR(r.time_s("leukocyte"), r.mean_time_s(), 1e-9);
}

TEST(thread_runs, may_begin_with_half_of_each_program_on_either_socket) {
  thread_platform on = quiet("dike-xeon", "half-half");
  // a sibling takes nothing, so that only the clock of its socket tells where a thread is
  on.simulated.smt_both = 2.0;
  on.start_on_halves = true;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto r = run_thread_programs(on, thread_programs_of("leukocyte"), "none", {}, seed);
    const auto& all = r.benchmarks.at(0).seconds;
    const double shortest = *std::ranges::min_element(all);
    EXPECT_EQ(std::ranges::count_if(all, [&](double one) { return one < 1.3 * shortest; }), 4)
        << seed;
  }
}

TEST(thread_runs, use_less_energy_on_slow_cores_by_the_square_of_the_clock) {
  // Equal threads: half of the work is done at a clock of 1.6 / 1.87, and energy for a piece of
  // work falls with the clock squared.
  const auto energy = [](const char* clocks) {
    return run_thread_programs(quiet("xeon-e5320", clocks), thread_programs_of("matmul-300-300"),
                               "ljfpf", {}, 1)
        .dynamic_energy_s;
  };
  EXPECT_NEAR(energy("half-half") / energy("all-fast"), (1.0 + std::pow(1.6 / 1.87, 2)) / 2.0,
              1e-3);
}

TEST(thread_runs, errors_of_sums_do_not_divide_by_a_thread_that_hardly_reads) {
  const auto r = run_thread_programs(thread_platform_of("dike-xeon", "half-half"),
                                     thread_programs_of("wl7"), "dike", {}, 1);
  ASSERT_EQ(r.errors.mean_by_thread.size(), r.errors_of_sums.mean_by_thread.size());
  EXPECT_LT(r.errors_of_sums.mean, r.errors.mean);
  EXPECT_EQ(r.errors.by_slice.size(),
            static_cast<std::size_t>(std::ceil(static_cast<double>(r.quanta) * 0.5 / 10.0)));
}

constexpr const char* file = R"(
schema = "kilter.experiment/1"
name = "x"
title = "x"
source = "S4"
[[scenario]]
name = "s"
on = "sim:dike-xeon"
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
  refuses(with("measure = \"error_in_slice\""), "needs 'slice'");
  refuses(with("measure = \"error_in_slice\", slice = 0"), "at least 1");
  refuses(with("measure = \"fairness\", slice = 1"), "takes no 'slice'");
  std::string wrong = with("measure = \"fairness\"");
  refuses(wrong.replace(wrong.find("\"wl1\""), 5, "\"wl0\""), "wl0");
}

TEST(thread_experiments, may_be_read_differently_without_touching_those_of_tasks) {
  std::vector<experiment_file> files{parse_experiment(with("measure = \"fairness\""), "x.toml")};
  read_differently(files, "sides=fast,memory=slow,children=forward");
  EXPECT_EQ(files[0].scenarios[0].parameters.at("sides"), "fast");
  EXPECT_EQ(files[0].scenarios[0].parameters.at("memory"), "slow");
  EXPECT_FALSE(files[0].scenarios[0].parameters.contains("children"));
  read_differently(files,
                   "work=500,memory_demand=200,smt=160,window=20,swap_unit=pairs,gate=threads,"
                   "errors=sums,code=public");
  EXPECT_EQ(files[0].scenarios[0].parameters.at("work"), "500");
  read_differently(files, "sides=near,lines_in_flight=10,remote=160");
  read_differently(files, "rates=cycle,beside=nothing,sections=program,scatter=30,refill=3000");
  EXPECT_THROW(read_differently(files, "work=0"), input_error);
  EXPECT_THROW(read_differently(files, "errors=means"), input_error);
  EXPECT_THROW(read_differently(files, "sides=slow"), input_error);
  EXPECT_THROW(read_differently(files, "quantum=100"), input_error);
}

TEST(thread_experiments, readings_reach_the_run) {
  const auto f = parse_experiment(with("measure = \"swaps\""), "x.toml");
  experiment_scenario s = f.scenarios[0];
  const selection run{{"scenario", "s"},  {"program", "wl7"}, {"clocks", "half-half"},
                      {"policy", "dike"}, {"quantum", "500"}, {"swap_size", "8"}};
  const thread_run as_described = run_threads_of(s, run, 1);
  const auto with_reading = [&](const char* key, const char* value) {
    experiment_scenario other = s;
    other.parameters[key] = value;
    return run_threads_of(other, run, 1);
  };
  EXPECT_GT(with_reading("work", "200").end_s, 1.8 * as_described.end_s);
  EXPECT_LT(with_reading("smt", "200").end_s, as_described.end_s);
  EXPECT_NE(with_reading("window", "2").swaps, as_described.swaps);
  EXPECT_LT(with_reading("rates", "cycle").swaps, as_described.swaps)
      << "a thread that computes reads as much in a cycle on either side";
  EXPECT_LT(with_reading("beside", "nothing").end_s, as_described.end_s);
  EXPECT_GT(with_reading("scatter", "100").slowdown_ratio(), as_described.slowdown_ratio());
  EXPECT_GT(with_reading("refill", "3000").mean_time_s(), as_described.mean_time_s());
  const thread_run that_wait = with_reading("lines_in_flight", "10");
  EXPECT_LT(that_wait.end_s, as_described.end_s)
      << "who waits for memory loses less on a slow core";
  EXPECT_NEAR(with_reading("remote", "160").end_s / as_described.end_s, 1.0, 1e-3)
      << "nobody waits, but for a cache that is filled again";
  EXPECT_EQ(with_reading("sides", "near").swaps, with_reading("sides", "fast").swaps)
      << "memory is behind the fast socket";
  s.parameters["lines_in_flight"] = "10";
  EXPECT_GT(with_reading("remote", "160").end_s, that_wait.end_s);
  s.parameters.erase("lines_in_flight");
  s.parameters["memory"] = "slow";
  EXPECT_NE(with_reading("sides", "near").swaps, with_reading("sides", "fast").swaps);
  s.parameters.erase("memory");
  EXPECT_NE(with_reading("swap_unit", "pairs").swaps, as_described.swaps);
  EXPECT_EQ(with_reading("errors", "sums").errors.mean, as_described.errors_of_sums.mean);
  selection crowded = run;
  crowded["program"] = "wl15";
  const double before_s = run_threads_of(s, crowded, 1).mean_time_s();
  // As the public code does it, 16 threads of a balanced workload are on the wrong side at the
  // start, and after they are put right nobody moves: no swaps without end when the threads of one
  // class are left alone.
  selection balanced = run;
  balanced["program"] = "wl1";
  const std::uint64_t described_swaps = run_threads_of(s, balanced, 1).swaps;
  s.parameters["code"] = "public";
  const thread_run by_code = run_threads_of(s, balanced, 1);
  s.parameters.erase("code");
  EXPECT_GE(by_code.swaps, 8u);
  EXPECT_LT(by_code.swaps, 24u);
  EXPECT_NE(by_code.swaps, described_swaps);
  EXPECT_GT(by_code.fairness(), 0.95);
  s.parameters["memory_demand"] = "300";
  EXPECT_GT(run_threads_of(s, crowded, 1).mean_time_s(), 1.1 * before_s);
}

TEST(thread_experiments, a_slowdown_is_against_the_benchmark_by_itself_on_fast_cores) {
  const auto f = parse_experiment(with("measure = \"benchmark_slowdown\", benchmark = \"jacobi\", "
                                       "policy = \"none\", quantum = 500, swap_size = 8, "
                                       "program = \"wl1\""),
                                  "x.toml");
  const cell c = f.claims[0].cases[0].of.left[0];
  ASSERT_EQ(thread_runs_behind(f.scenarios[0], c).size(), 2u);
  std::vector<thread_run> made(1);
  const auto runs = [&](const selection& run) -> const std::vector<thread_run>& {
    const bool alone = run.at("program") == "jacobi" && run.at("clocks") == "all-fast";
    made[0].benchmarks = {{"jacobi", {2.0, alone ? 4.0 : 10.0}, {}}};
    return made;
  };
  EXPECT_NEAR(thread_values(f.scenarios[0], c, runs).at(0), 2.5, 1e-12);
}

TEST(thread_experiments,
     a_set_is_the_mean_of_its_members_and_a_sweep_looks_at_every_configuration) {
  const auto text = with(
      "measure = \"sweep_fairness_of_default\", program = \"wl1\", policy = \"dike\", quantum = "
      "500, swap_size = 8");
  const auto f = parse_experiment(text, "x.toml");
  const experiment_scenario& s = f.scenarios[0];
  cell c = f.claims[0].cases[0].of.left[0];
  EXPECT_EQ(thread_runs_behind(s, c).size(), 4u);
  // Eight threads of one benchmark, one of which is later the longer the quantum: fairness falls
  // with it, and 500 ms is below the best.
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
