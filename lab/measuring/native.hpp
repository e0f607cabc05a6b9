#pragma once
// Measures an experiment on this machine: policies x scenarios x repeats, interleaved, with the
// bound of every scenario around them.

#include <memory>
#include <vector>

#include "measuring/measurement.hpp"
#include "measuring/presence.hpp"
#include "measuring/simulation.hpp"

namespace kilter::lab {

class native final : public measurement {
 public:
  native(experiment, progress&);
  ~native() override;
  void run() override;

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
  [[nodiscard]] std::vector<combination> combinations();
  [[nodiscard]] runtime_options options_for(const combination&, std::uint32_t repeat) const;
  [[nodiscard]] std::optional<core_id> root_of(std::uint32_t repeat) const;
  /// What the cores do under whatever is present now, in tasks of the graph.
  [[nodiscard]] rate_sample pinned_loops();
  void count_tasks(const std::vector<rate_sample>& undisturbed_by_type);

  native_kernels kernels_;
  std::optional<mixed_tasks> mix_;                    // where tasks differ
  std::vector<std::unique_ptr<presence>> presences_;  // one a scenario
  graph graph_;
};

}  // namespace kilter::lab
