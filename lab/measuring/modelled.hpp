#pragma once
// Measures an experiment on a machine that is a platform file: in virtual time (simulation.hpp) or
// on threads (emulation.hpp).

#include "measuring/measurement.hpp"

namespace kilter::lab {

class modelled : public measurement {
 public:
  void run() final;
  /// Types, iterations and slots of the graph that runs.
  [[nodiscard]] const task_graph& made() const noexcept { return made_; }

 protected:
  /// `bodies`: what the tasks do; null where nothing runs them.
  modelled(experiment, progress&, body_runner* bodies);
  /// One run of a policy, all graphs of it; a traced one adds a detail instead of rows. Called in
  /// an order of its own, after the bounds.
  virtual void run_one(const scenario&, const std::string& policy, std::uint32_t repeat,
                       bool traced) = 0;

  graph graph_;
  task_graph made_;

 private:
  void compute_bounds();
};

}  // namespace kilter::lab
