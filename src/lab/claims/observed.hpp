#pragma once
// What is kept of a simulated run so that every measure of measures.hpp can be taken of it.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kilter/runtime.hpp"
#include "lab/claims/claim.hpp"
#include "lab/claims/traced_run.hpp"
#include "sim/engine.hpp"

namespace kilter::lab {

/// Parts of a run, by the start of a task: before the first disturbance, while one is there, after the last, and between two.
enum class run_part : std::uint8_t { before, during, after, between };

/// When disturbances are there. Of a wave `during` is its low halves.
class presence_times {
 public:
  explicit presence_times(const std::vector<sim::disturbance>&);
  [[nodiscard]] run_part at(double start_s) const noexcept;
  [[nodiscard]] double first_s() const noexcept { return first_s_; }   ///< infinite if there are none
  [[nodiscard]] double last_s() const noexcept { return last_s_; }     ///< infinite if one stays

 private:
  std::vector<sim::disturbance> all_;
  double first_s_, last_s_;
};

class observed {
 public:
  observed(const sim::platform&, const std::vector<sim::disturbance>&);
  /// From now on single events are kept too; of the table those of `watched`, if there is one.
  void trace(std::optional<place_id> watched);
  /// For sim::engine_options::finished. `of`: the task's iteration, 0 if the workload has none.
  void add(const sim::engine&, const sim::sim_assembly&, double end_s, std::uint32_t of);
  /// `types`: names of the graph's types.
  void finish(const sim::engine&, const execution_stats&, const std::vector<std::string>& types);

  /// A measure that takes a scenario (but parallel_efficiency, which is of two runs). NaN if nothing ran that it could be taken of.
  [[nodiscard]] double value(const std::string& measure, const selection& what) const;
  [[nodiscard]] double makespan_s() const noexcept { return stats_.seconds; }
  /// Null if nothing was traced.
  [[nodiscard]] const traced_run* traced() const noexcept { return traced_ ? &*traced_ : nullptr; }

 private:
  struct counts {
    std::vector<std::uint64_t> critical, other;  // by place
  };
  struct iteration {
    double first_s = -1.0, last_s = 0.0;
    std::vector<std::uint32_t> tasks;            // by place
  };
  [[nodiscard]] counts of_parts(const selection& what) const;
  [[nodiscard]] double iteration_time(const selection& what) const;
  [[nodiscard]] double iteration_disturbed(const selection& what) const;
  [[nodiscard]] double task_count(const selection& what) const;
  [[nodiscard]] std::span<const iteration> chosen(const selection& what) const;
  void note_event(const sim::engine&, const sim::sim_assembly&, double start_s, double end_s);

  std::shared_ptr<const machine> machine_;   ///< runs are kept longer than what planned them
  presence_times times_;
  std::array<counts, 4> parts_;
  std::vector<std::uint64_t> on_core_;
  std::vector<iteration> iterations_;
  std::uint64_t tasks_ = 0, beyond_cache_ = 0, until_trained_ = 0;
  bool trained_ = false;
  execution_stats stats_;
  double got_s_ = 0.0, there_s_ = 0.0;
  std::optional<traced_run> traced_;
  std::optional<place_id> watched_;
};

}  // namespace kilter::lab
