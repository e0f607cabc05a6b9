#pragma once
// What the bodies of a task type do, and what that costs on a platform.

#include <cstdint>
#include <string>
#include <vector>

#include "sim/platform.hpp"
#include "sim/speeds.hpp"

namespace kilter::sim {

/// What the bodies of one task type do. A task's own `work`, if it has one, is how many times that
/// it does it.
struct type_work {
  std::string kernel;
  double size = 0.0;
  /// above 0: it is handed out in so many pieces, so that members who come when all are taken find
  /// nothing to do
  std::uint32_t chunks = 0;
  /// above 0: it takes so long on any one core at any clock, and no width makes it shorter (a
  /// message)
  double fixed_s = 0.0;
  /// Every task has its own seconds on each core (task_options::core_seconds), with the core for
  /// itself at its highest clock; no width makes it shorter, the leader's count. `kernel`, `size`
  /// and a task's `work` are without meaning then.
  bool given = false;
};

/// On one kind of core. input_error if the platform has no figures for the kernel there.
[[nodiscard]] task_cost cost_of(const platform&, const type_work&, kind_id);

/// What a task's work is multiplied by: log-normal with mean 1, from the seed and the number of the
/// task, so that whoever runs it sees the same.
[[nodiscard]] double noise_factor(double sigma, std::uint64_t seed, std::uint64_t task) noexcept;
/// The same of tasks 0 to count - 1, for much less than one by one.
[[nodiscard]] std::vector<double> noise_factors(double sigma, std::uint64_t seed,
                                                std::uint64_t count);

}  // namespace kilter::sim
