#include "claims/measures.hpp"

#include <algorithm>
#include <array>

namespace kilter::lab {

namespace {

using need = detail_need;

constexpr std::array all = {
    measure_info{"throughput", false, false, need::none,
                 "tasks of the graph over its makespan, tasks a second (papers.md A1.4)"},
    measure_info{"makespan", false, false, need::none,
                 "seconds from the first task's start to the last one's end"},
    measure_info{"critical_share", true, false, need::where_and_when,
                 "of the high-priority tasks, the part that ran there"},
    measure_info{"other_share", true, false, need::where_and_when,
                 "of the other tasks, the part that ran there"},
    measure_info{"task_share", true, false, need::where_and_when,
                 "of all tasks, the part that ran there"},
    measure_info{"tasks_on_core", false, false, need::core, "tasks that the core took part in"},
    measure_info{
        "work_time", false, false, need::core,
        "seconds that the core spent in bodies, without runtime and idling (papers.md A1.4)"},
    measure_info{"work_imbalance", false, false, need::none,
                 "largest work time of a core over the mean of all cores"},
    measure_info{"critical_width", false, false, need::when,
                 "mean width of the places of high-priority tasks"},
    measure_info{"task_width", false, false, need::when, "mean width of the places of all tasks"},
    measure_info{"beyond_cache_share", true, false, need::none,
                 "of all tasks, the part that ran with more working set than its cluster's cache"},
    measure_info{"task_count", false, false, need::where_and_iteration, "tasks that ran there"},
    measure_info{"iteration_time", false, false, need::when_or_iteration,
                 "mean seconds of an iteration"},
    measure_info{"iteration_disturbed", true, false, need::when_or_iteration,
                 "of the iterations, the part that began while a disturbance was there"},
    measure_info{"co_runner_progress", true, false, need::none,
                 "the co-runner's iterations a second over those of running alone"},
    measure_info{"tasks_until_trained", false, false, need::none,
                 "tasks ended until no place of any type is untried"},
    measure_info{"parallel_efficiency", false, false, need::none,
                 "makespan on one worker over workers x makespan"},
    measure_info{"run_time", false, false, need::none, "seconds until the last thread ended",
                 run_kind::threads},
    measure_info{"run_time_cv", false, false, need::none,
                 "standard deviation over mean of the run times of a seed's draws",
                 run_kind::threads},
    measure_info{"speedup", false, false, need::none,
                 "work of the threads alone on a fast core, one after the other, over the run time",
                 run_kind::threads},
    measure_info{"fairness", false, false, need::none,
                 "Eq. 4 of S4: 1 less the mean over benchmarks of the coefficient of variation of "
                 "their threads' times",
                 run_kind::threads},
    measure_info{"slowdown_ratio", false, false, need::none,
                 "largest over smallest slowdown of a thread against running alone on a fast core",
                 run_kind::threads},
    measure_info{"speed", false, false, need::none,
                 "1 over the geometric mean over benchmarks of their slowest threads' seconds",
                 run_kind::threads},
    measure_info{"benchmark_time", false, false, need::benchmark,
                 "seconds of the benchmark's slowest thread", run_kind::threads},
    measure_info{"swaps", false, false, need::none, "exchanges of two threads", run_kind::threads},
    measure_info{"error_mean", false, false, need::none,
                 "1 plus the mean error of predicted access rates over threads and quanta",
                 run_kind::threads},
    measure_info{"error_low", false, false, need::none,
                 "1 plus the smallest mean error of a thread", run_kind::threads},
    measure_info{"error_high", false, false, need::none,
                 "1 plus the largest mean error of a thread", run_kind::threads},
    measure_info{"error_spread", false, false, need::none,
                 "distance of the largest mean error of a thread from the smallest",
                 run_kind::threads},
    measure_info{"error_in_slice", false, false, need::slice,
                 "1 plus the mean error over threads and quanta in ten seconds of the run",
                 run_kind::threads},
    measure_info{"benchmark_slowdown", false, false, need::benchmark,
                 "seconds of the benchmark's slowest thread over those of running alone on the "
                 "machine with all cores fast",
                 run_kind::threads},
    measure_info{"moves", false, false, need::none,
                 "moves of threads from core to core, by whomever", run_kind::threads},
    measure_info{"dynamic_energy", false, false, need::none,
                 "busy seconds of each core times its clock cubed, over the reference clock: "
                 "energy that falls with the clock if the voltage does",
                 run_kind::threads},
    measure_info{"threads", false, false, need::none, "threads that the program made",
                 run_kind::threads},
    measure_info{"thread_groups", false, false, need::none, "thread-groups (S3, Fig. 10)",
                 run_kind::threads},
    measure_info{"sym_inst", false, false, need::none,
                 "SymInst (S3, section 6) of the work of the threads", run_kind::threads},
    measure_info{"locks", false, false, need::none, "locks that all threads take together",
                 run_kind::threads},
    measure_info{"barriers", false, false, need::none, "barriers that all threads reach together",
                 run_kind::threads},
    measure_info{"sym_lock", false, false, need::none,
                 "SymLock of the locks they take and the barriers they reach", run_kind::threads},
    measure_info{"error_spike", false, false, need::none,
                 "mean size of the error in quanta in which a thread ended, or that follow one, "
                 "over that in all other quanta",
                 run_kind::threads},
    measure_info{"sweep_fairness_of_fastest", false, false, need::none,
                 "of all quanta and swap sizes of the scenario: fairness of the fastest over that "
                 "of the fairest",
                 run_kind::threads},
    measure_info{"sweep_speed_of_fairest", false, false, need::none,
                 "likewise, speed of the fairest over that of the fastest", run_kind::threads},
    measure_info{"sweep_fairness_of_foreign", false, false, need::none,
                 "fairness with what is fairest for the scenario's other programs, over the best",
                 run_kind::threads},
    measure_info{"sweep_fairness_of_default", false, false, need::none,
                 "fairness of swap size 8 and 500 ms over the best", run_kind::threads},
    measure_info{"sweep_speed_of_default", false, false, need::none,
                 "speed of swap size 8 and 500 ms over the best", run_kind::threads},
    measure_info{"sweep_fairness_of_worst", false, false, need::none,
                 "lowest fairness over that of swap size 8 and 500 ms", run_kind::threads},
    measure_info{"sweep_speed_of_worst", false, false, need::none,
                 "lowest speed over that of swap size 8 and 500 ms", run_kind::threads},
    measure_info{"model_speed", false, false, need::none,
                 "1 over the seconds of the program's parallel part (papers.md A2.3)",
                 run_kind::models},
    measure_info{"model_energy", false, false, need::none, "joules of both clusters meanwhile",
                 run_kind::models},
    measure_info{"model_power", false, false, need::none, "their mean watts", run_kind::models},
    measure_info{"model_edp", false, false, need::none, "joules times seconds", run_kind::models},
    measure_info{"graph_critical_share", true, true, need::none,
                 "high-priority tasks over all tasks of a layered graph", run_kind::tasks,
                 "tasks,parallelism"},
    measure_info{"samples_to_cross", false, true, need::none,
                 "samples until the average is nearer to the new level", run_kind::tasks, "weight"},
    measure_info{"places", false, true, need::none, "places of one cluster of so many cores",
                 run_kind::tasks, "cores"},
    measure_info{"program_tasks", false, true, need::none,
                 "tasks of a run of the program at S1's sizes", run_kind::tasks, "program"},
    measure_info{"example_parallelism", false, true, need::none,
                 "tasks over longest path of the graph of S2 Fig. 1"},
    measure_info{"example_longest_path", false, true, need::none,
                 "tasks on the longest path of the graph of S2 Fig. 1"},
    measure_info{"example_placements", false, true, need::none,
                 "of the seven tasks of S2 Fig. 3, those placed as the paper says"},
};

constexpr std::array<std::string_view, 12> natively = {
    "throughput", "makespan",       "critical_share",      "other_share",
    "task_share", "tasks_on_core",  "critical_width",      "task_width",
    "task_count", "iteration_time", "iteration_disturbed", "parallel_efficiency"};

}  // namespace

std::string_view name_of(run_kind k) noexcept {
  return k == run_kind::tasks ? "tasks" : k == run_kind::threads ? "threads" : "models";
}

std::span<const measure_info> measures() noexcept { return all; }

const measure_info* find_measure(std::string_view name) noexcept {
  const auto* found =
      std::find_if(all.begin(), all.end(), [&](const measure_info& m) { return m.name == name; });
  return found == all.end() ? nullptr : found;
}

std::span<const std::string_view> native_measures() noexcept { return natively; }

bool measured_natively(std::string_view name) noexcept {
  return std::ranges::find(natively, name) != natively.end();
}

}  // namespace kilter::lab
