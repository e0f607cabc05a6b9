#pragma once
// An experiment that is being measured, natively (native.hpp), in virtual time (simulation.hpp) or
// emulated (emulation.hpp).

#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "measuring/experiment.hpp"
#include "measuring/head_start.hpp"
#include "measuring/results.hpp"
#include "session/progress.hpp"

namespace kilter::lab {

/// How many steps of progress a complete run reports, to within a few.
[[nodiscard]] std::uint64_t steps_of(const experiment&);

/// One invocation. `run` blocks; `result` may be asked at any time and from any thread for what is
/// known by then.
class measurement {
 public:
  virtual ~measurement();
  /// Returns early when the process is interrupted (interrupt.hpp). Throws what a kernel or a
  /// disturbance throws when it cannot be set up.
  virtual void run() = 0;
  /// Runs so far with their bounds, and the rows that follow from them.
  [[nodiscard]] experiment_result result() const;
  [[nodiscard]] const experiment& plan() const noexcept { return experiment_; }

  static std::unique_ptr<measurement> make(experiment, progress&);

 protected:
  measurement(experiment, progress&);
  /// Seconds of a scenario's bound, from the rates measured so far.
  [[nodiscard]] double bound_of(const scenario&, const std::vector<rates_of_set>&) const;
  /// Calls it. A table that cannot be written must not cost what was measured: the result says why.
  void save_table(const std::function<void()>&);

  experiment experiment_;
  std::map<std::string, head_start>
      gained_;  ///< by scenario; natively none, since what is left is measured
  /// of the graph and of its longest path; the rates count tasks like those
  std::uint64_t tasks_ = 0, path_tasks_ = 0;
  progress& progress_;
  mutable std::mutex mutex_;  ///< guards measured_
  experiment_result measured_;

 private:
  std::int64_t start_ns_;
};

}  // namespace kilter::lab
