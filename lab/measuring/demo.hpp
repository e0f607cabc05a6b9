#pragma once
// The main job: the default policy and the seven of S0 on the cores that are there or of a
// platform, undisturbed and with a co-runner on core 0.

#include <cstdint>
#include <optional>
#include <string>

#include "measuring/experiment.hpp"

namespace kilter::lab {

struct demo_specification {
  std::optional<std::uint32_t> repeats{};  ///< absent: 4, or 2 when quick
  std::uint64_t seed = 1;
  engine_choice on{};   ///< native or simulated
  std::string cores{};  ///< as parse_cores; empty: all
  /// a quarter of a minute instead of one and a half, with wider spreads
  bool quick = false;
};

/// Everything but the number of tasks, which natively needs a measurement. Throws input_error.
[[nodiscard]] experiment plan_demo(const demo_specification&);

/// Sets the number of tasks so that an undisturbed run takes about 0.6 s (0.15 s when quick) on its
/// machine. Natively that takes 0.2 s a core.
void calibrate_demo(experiment&, bool quick);

}  // namespace kilter::lab
