#pragma once
// Measures an experiment in virtual time, on a machine that is a platform file.

#include <limits>

#include "measuring/modelled.hpp"
#include "sim/engine.hpp"

namespace kilter::lab {

class simulation final : public modelled {
 public:
  simulation(experiment, progress&);

 private:
  void run_one(const scenario&, const std::string& policy, std::uint32_t repeat,
               bool traced) override;
};

/// How the engine is set up for one run. `expected_s`: for windows given as fractions of a run.
[[nodiscard]] sim::engine_options simulated_options(const experiment&, const scenario&,
                                                    const std::string& policy, std::uint32_t repeat,
                                                    double expected_s);
/// What the graph that runs adds to them; it outlives the engine.
void add_graph(sim::engine_options&, const experiment&, const task_graph&);

/// What a scenario is to the simulator. `expected_s`: for windows given as fractions of a run. A
/// sliced co-runner's first slice begins at a moment drawn from `seed`.
[[nodiscard]] std::vector<sim::disturbance> to_simulated(const std::vector<disturbance>&,
                                                         const sim::platform&, bool fluid,
                                                         double expected_s, std::uint64_t seed);

/// Tasks a second that the platform can give under the parts of a set, for each type of task: each
/// core by itself, and all at once; from its figures for computing and for the traffic that no
/// cache avoids. No figures for what does nothing. A co-runner in slices leaves half of its core,
/// and all of it to a place by itself, since tasks one after the other may be wherever a slice has
/// just ended; a `fluid` one leaves what the platform says. `widths`: as task_graph::widths; other
/// places do nothing for a type.
[[nodiscard]] std::vector<rate_sample> simulated_rates(
    const sim::platform&, const std::vector<sim::type_work>&,
    const std::vector<disturbance>& steady, bool fluid = false,
    const std::vector<std::vector<std::uint32_t>>& widths = {});

/// What the steady parts of a set leave of each core by itself, and how many cores a quota pays for
/// at a time. `of_slices`: what a co-runner in slices leaves.
[[nodiscard]] std::vector<double> left_of_cores(const sim::platform&,
                                                const std::vector<disturbance>& steady, bool fluid,
                                                double of_slices);
[[nodiscard]] double paid_cores(const sim::platform&, const std::vector<disturbance>& steady);

/// Seconds of all tasks of the graph one after the other on the core that is fastest for them,
/// undisturbed.
[[nodiscard]] double sequential_s(graph&, const sim::platform&, const std::vector<sim::type_work>&);

/// Tasks of several types, counted in tasks of the average: so one number bounds a run of all of
/// them.
///
/// A core that takes tasks of type t at a rate r(t) does at most max over t of weight(t) r(t) of
/// the work in a second, whatever the weights are; so tasks / (the sum of that over the cores) is a
/// bound, and likewise for the path. The weights are the seconds that the undisturbed machine needs
/// for one task, all cores together for the work and the fastest place for the path. With one type
/// they are 1, but for rounding. Where the machine's memory cannot carry the traffic of so many
/// tasks a second, the cores' rates are cut in proportion.
class mixed_tasks {
 public:
  /// `undisturbed`: of each of the types.
  mixed_tasks(graph&, const sim::platform&, const std::vector<sim::type_work>&,
              const std::vector<rate_sample>& undisturbed);
  /// Without limits of memory, as where the rates were measured.
  mixed_tasks(graph&, const std::vector<rate_sample>& undisturbed);
  [[nodiscard]] rate_sample rates(const std::vector<rate_sample>& by_type) const;
  /// The same whatever memory can carry.
  [[nodiscard]] rate_sample rates_of_cores(const std::vector<rate_sample>& by_type) const;
  [[nodiscard]] std::uint64_t tasks() const noexcept { return tasks_; }
  /// On the path that takes longest.
  [[nodiscard]] std::uint64_t path_tasks() const noexcept { return path_tasks_; }
  /// The largest task, counted like them.
  [[nodiscard]] double largest() const noexcept { return largest_; }
  [[nodiscard]] double path_largest() const noexcept { return path_largest_; }

 private:
  std::vector<double> work_weight_, path_weight_;  // by type
  double largest_ = 0.0, path_largest_ = 0.0;
  std::uint64_t tasks_ = 0, path_tasks_ = 0;
  // tasks whose traffic memory carries in a second; infinite without limits
  double carried_per_s_ = std::numeric_limits<double>::infinity();
};

}  // namespace kilter::lab
