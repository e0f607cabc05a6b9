#pragma once
// What is kept of a run so that every measure of measures.hpp can be taken of it. Engines tell it
// about tasks: task_measures.cpp, native_runs.cpp.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "claims/claim.hpp"
#include "claims/traced_run.hpp"
#include "kilter/machine.hpp"
#include "kilter/runtime.hpp"

namespace kilter::lab {

/// Parts of a run, by the start of a task: before the first disturbance, while one is there, after
/// the last, and between two.
enum class run_part : std::uint8_t { before, during, after, between };

/// When one disturbance is there, in seconds from the start of the run.
struct presence_window {
  double from_s = 0.0, to_s = -1.0;  ///< to < 0: until the end
  /// of a wave, which begins with full speed; 0: there throughout
  double half_period_s = 0.0;
};

/// When disturbances are there. Of a wave `during` is its low halves.
class presence_times {
 public:
  explicit presence_times(std::vector<presence_window>);
  [[nodiscard]] run_part at(double start_s) const noexcept;
  /// infinite if there are none
  [[nodiscard]] double first_s() const noexcept { return first_s_; }
  [[nodiscard]] double last_s() const noexcept { return last_s_; }  ///< infinite if one stays

 private:
  std::vector<presence_window> all_;
  double first_s_, last_s_;
};

/// A task that ended, as an engine tells it.
struct task_record {
  /// from the moment that the windows of disturbances count from
  double start_s = 0.0, end_s = 0.0;
  place_id where = 0;
  bool critical = false;
  /// it began while the working sets in its cluster did not fit the cache
  bool beyond_cache = false;
  std::uint32_t iteration = 0;  ///< from 0; 0 if the workload has none
};

class observed {
 public:
  observed(std::shared_ptr<const machine>, presence_times);
  /// From now on single events are kept too.
  void trace();
  void add(const task_record&);
  /// After the task of the last `add` no place of any type is untried any more.
  void add_trained() noexcept { until_trained_ = tasks_; }
  [[nodiscard]] bool trained() const noexcept { return until_trained_ > 0; }
  /// What the table holds now at the place that is watched.
  void add_learned(const learned_time&);
  /// Of co-runners on one core: seconds that they had, and seconds that they were there.
  void add_co_runner(double got_s, double there_s) noexcept;
  /// `types`: names of the graph's types.
  void finish(const execution_stats&, const std::vector<std::string>& types);

  /// A measure that takes a scenario (but parallel_efficiency, which is of two runs). NaN if
  /// nothing ran that it could be taken of.
  [[nodiscard]] double value(const std::string& measure, const selection& what) const;
  [[nodiscard]] double makespan_s() const noexcept { return stats_.seconds; }
  [[nodiscard]] std::uint32_t workers() const noexcept { return machine_->core_count(); }
  /// Null if nothing was traced.
  [[nodiscard]] const traced_run* traced() const noexcept { return traced_ ? &*traced_ : nullptr; }

 private:
  struct counts {
    std::vector<std::uint64_t> critical, other;  // by place
  };
  struct iteration {
    double first_s = -1.0, last_s = 0.0;
    std::vector<std::uint32_t> tasks;  // by place
  };
  [[nodiscard]] counts of_parts(const selection& what) const;
  [[nodiscard]] double iteration_time(const selection& what) const;
  [[nodiscard]] double iteration_disturbed(const selection& what) const;
  [[nodiscard]] double task_count(const selection& what) const;
  [[nodiscard]] std::span<const iteration> chosen(const selection& what) const;
  template <class One>
  void keep(std::vector<One>&, const One&);

  std::shared_ptr<const machine> machine_;  ///< runs are kept longer than what planned them
  presence_times times_;
  std::array<counts, 4> parts_;
  std::vector<std::uint64_t> on_core_;
  std::vector<iteration> iterations_;
  std::uint64_t tasks_ = 0, beyond_cache_ = 0, until_trained_ = 0;
  execution_stats stats_;
  double got_s_ = 0.0, there_s_ = 0.0;
  std::optional<traced_run> traced_;
};

}  // namespace kilter::lab
