#pragma once
// Measures an experiment in virtual time, on a machine that is a platform file.

#include "lab/measurement.hpp"
#include "sim/engine.hpp"

namespace kilter::lab {

class simulation final : public measurement {
 public:
  simulation(experiment, progress&);
  ~simulation() override;
  void run() override;

 private:
  void compute_bounds();
  void run_one(const scenario&, const std::string& policy, std::uint32_t repeat, bool traced);

  graph graph_;
};

/// How the engine is set up for one run. `expected_s`: for windows given as fractions of a run.
[[nodiscard]] sim::engine_options simulated_options(const experiment&, const scenario&, const std::string& policy, std::uint32_t repeat, double expected_s);

/// What a scenario is to the simulator. `expected_s`: for windows given as fractions of a run. A sliced co-runner's first slice begins at a
/// moment drawn from `seed`.
[[nodiscard]] std::vector<sim::disturbance> to_simulated(const std::vector<disturbance>&, const sim::platform&, bool fluid, double expected_s,
                                                         std::uint64_t seed);

/// Tasks a second that the platform can give under the parts of a set: each core by itself, and all at once; from its figures alone.
[[nodiscard]] rate_sample simulated_rates(const sim::platform&, const std::string& kernel, double size, const std::vector<disturbance>& steady);

}  // namespace kilter::lab
