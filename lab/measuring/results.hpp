#pragma once
// What an experiment measured, as values. Everything that is shown or written is made from these.

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "disturbing/disturbance.hpp"
#include "kilter/runtime.hpp"
#include "measuring/timeline.hpp"
#include "trace/event.hpp"

namespace kilter::lab {

/// One graph run.
struct run_row {
  std::string policy, disturb;
  /// graph > 0: on a runtime that had already run others, so warm
  std::uint32_t repeat = 0, graph = 0;
  std::optional<core_id> root_core{};  ///< absent: submitted from an outside thread
  double throughput_per_s = 0.0;
  double bound_s = 0.0;     ///< filled in when the experiment ends
  execution_stats stats{};  ///< its `places` are indexed by place_id
  /// mean share of the disturbed cores' time that the program was left; absent if undisturbed
  std::optional<double> achieved_share{};
  /// the co-runner's speed against running alone; absent without one
  std::optional<double> disturber_progress{};
  /// of the simulated machine's cores and clusters; absent where nothing says what they draw
  std::optional<double> energy_j{};

  [[nodiscard]] bool warm() const noexcept { return graph > 0; }
  /// Energy-delay product.
  [[nodiscard]] std::optional<double> edp_js() const noexcept {
    return energy_j ? std::optional(*energy_j * stats.seconds) : std::nullopt;
  }
};

/// What the repeats of one policy in one scenario gave: all that belongs to one line of a table.
/// presenting/columns.hpp has a column for each of these.
struct result_row {
  std::string graph, on, disturb, policy;
  bool warm = false;                      ///< of the graphs that followed on one runtime
  std::vector<disturbance_kind> kinds{};  ///< of the disturbances
  double scale = 1.0;                     ///< of the seconds in the graph
  /// that tasks may have of which the graph names none; "all" or as "1,2"
  std::string widths = "all";
  std::uint32_t runs = 0;
  /// no schedule of this graph on this machine under this disturbance takes less
  double bound_s = 0.0;
  bool in_virtual_time = false;
  double throughput_per_s = 0.0;  ///< median
  double makespan_s = 0.0;        ///< of the execution, median
  double least_s = 0.0, most_s = 0.0;
  std::vector<double> runs_s{};  ///< of each run
  /// Throughput over that of rws in the run with the same repeat, root and graph: median and
  /// extremes. Absent if rws has not run.
  std::optional<double> ratio_to_rws{}, ratio_to_rws_min{}, ratio_to_rws_max{};
  double ratio_to_bound = 0.0;  ///< median of bound / own: 1 is as fast as can be
  /// makespan / the longest path with every task on the place that is fastest for it, undisturbed
  double slr = 0.0;
  /// all tasks one after the other on the one core that is fastest for them, undisturbed / makespan
  double speedup = 0.0;
  double efficiency = 0.0;  ///< speedup / cores
  /// wall seconds that the policy took to plan the graph, median; absent if it plans nothing
  std::optional<double> plan_s{};
  /// energy, and energy x time, medians; absent if a run has none
  std::optional<double> energy_j{}, edp_js{};
  /// of all tasks of these runs, those that were critical when they ran
  double critical_part = 0.0;
  struct share_of_place {
    place where;
    double share = 0.0;
  };
  std::vector<share_of_place> critical_share{};  ///< of all critical tasks; none is 0
};

/// What cores can do while one set of disturbances is present, in tasks a second: from pinned loops
/// of the kernel, or from a platform's figures.
struct rate_sample {
  bool after = false;               ///< measured after the runs, not before
  std::vector<double> alone_per_s;  ///< at its leader, the fastest place by itself; natively only
                                    ///< the best of each width counts, and single cores
  std::vector<double> together_per_s;  ///< each core's part of what all do at once, at the width
                                       ///< that is cheapest for it
  std::vector<double> single_per_s{};  ///< natively: each core by itself, a task on one core
  double chain_paid_per_s =
      std::numeric_limits<double>::infinity();  ///< of tasks one after the other, what a quota pays
                                                ///< for
};

struct rates_of_set {
  std::string disturb;
  active_set set = 0;
  std::vector<rate_sample> samples{};
};

/// A traced run, beside the measured ones.
struct detail {
  std::string policy, disturb;
  std::uint32_t repeat = 0;
  double seconds = 0.0;
  std::int64_t start_ns = 0;  ///< of the first task, in the events' clock
  std::vector<trace::event> events{};
  std::vector<std::string> types{}, labels{};
  std::uint64_t dropped = 0;
  /// by core, as the recorder tells it; empty: nothing was dropped
  std::vector<std::int64_t> dropped_from_ns{};
};

/// By how much bodies missed the moment at which the model ends them. Never early.
struct lateness {
  std::uint64_t tasks = 0;
  double modelled_s = 0.0;  ///< length of all tasks by the model, in the platform's time
  double late_s = 0.0;      ///< sum over the tasks, in the platform's time
  double most_s = 0.0;      ///< of one task, in the platform's time
  void add(const lateness&) noexcept;
};

/// How a machine was emulated.
struct emulation_report {
  double scale = 1.0;            ///< seconds here for one second of the platform
  double shortest_task_s = 0.0;  ///< in the platform's time
  lateness late{};               ///< of all runs, traced ones included
};

struct experiment_result {
  std::vector<run_row> runs;
  std::vector<result_row> rows;
  std::vector<rates_of_set> rates;
  std::vector<detail> details;
  std::optional<emulation_report> emulation;
  /// Undisturbed: the longest path with every task on the place that is fastest for it, and all
  /// tasks one after the other on one core.
  double path_s = 0.0, sequential_s = 0.0;
  std::vector<std::string> notes;  ///< what a reader must know about how it was measured
  /// why the trace table could not be saved; empty: it was, or nobody asked
  std::string table_lost;
  bool complete = false;  ///< false after Ctrl-C
  double tool_seconds = 0.0;
};

}  // namespace kilter::lab
