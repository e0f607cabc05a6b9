#pragma once
// Measures an experiment: policies x scenarios x repeats, interleaved, with the bound of every scenario around them.

#include <memory>
#include <mutex>
#include <vector>

#include "apps/kernels.hpp"
#include "lab/experiment.hpp"
#include "lab/presence.hpp"
#include "lab/progress.hpp"
#include "lab/results.hpp"

namespace kilter::lab {

/// How many steps of progress a complete run reports, to within a few.
[[nodiscard]] std::uint64_t steps_of(const experiment&);

/// One invocation. `run` blocks; `result` may be asked at any time and from any thread for what is known by then.
class bench {
 public:
  bench(experiment, progress&);
  ~bench();

  /// Returns early when the process is interrupted (interrupt.hpp). Throws what a kernel or a disturbance throws when it cannot be set up.
  void run();
  /// Rows so far with their bounds, the summary and the findings that follow from them.
  [[nodiscard]] bench_result result() const;
  [[nodiscard]] const experiment& plan() const noexcept { return experiment_; }

 private:
  struct combination {
    const scenario* what;
    const std::string* policy;
    presence* around;
  };
  void build();
  void measure_bounds(bool after);
  void measure_runs();
  void trace_runs();
  void run_one(const combination&, std::uint32_t repeat);
  void trace_one(const combination&);
  [[nodiscard]] double bound_of(const scenario&, const std::vector<rates_of_set>&) const;
  [[nodiscard]] std::vector<combination> combinations();
  [[nodiscard]] runtime_options options_for(const combination&, std::uint32_t repeat) const;
  [[nodiscard]] std::optional<core_id> root_of(std::uint32_t repeat) const;

  experiment experiment_;
  progress& progress_;
  std::unique_ptr<apps::kernel_instance> kernel_;
  std::vector<std::unique_ptr<presence>> presences_;  // one a scenario
  graph graph_;
  mutable std::mutex mutex_;   // guards measured_
  bench_result measured_;
  std::int64_t start_ns_;
};

}  // namespace kilter::lab
