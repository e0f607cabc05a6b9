#pragma once
// The CPU time that a control group leaves to the program: so many seconds in each period, all
// cores together. Who has used them up stands still until the next period begins.

#include <limits>
#include <vector>

#include "kilter/ids.hpp"
#include "sim/time.hpp"

namespace kilter::sim {

/// As the quotas that `--disturb quota` sets on a real machine.
inline constexpr double quota_period_s = 0.02;

class quota_meter {
 public:
  explicit quota_meter(std::uint32_t cores) : uses_(cores, 0.0) {}

  /// From now on `share` of the time of all cores; the first period begins. At least 1: no limit
  /// any more.
  void limit(double share, sim_time now) noexcept;
  /// The core uses so much of its time, 0..1.
  void set_use(core_id, double part, sim_time now) noexcept;

  /// Cores' worth of time that it leaves; infinite without a limit.
  [[nodiscard]] double paid_cores() const noexcept {
    return period_ends_ == never ? std::numeric_limits<double>::infinity()
                                 : budget_s_ / quota_period_s;
  }
  [[nodiscard]] bool exhausted() const noexcept { return exhausted_; }
  /// When `advance` must be called: the time is used up, or a period begins. `never` without a
  /// limit.
  [[nodiscard]] sim_time next_change() const noexcept;
  void advance(sim_time now) noexcept;

 private:
  void settle(sim_time now) noexcept;

  std::vector<double> uses_;  // by core
  double budget_s_ = 0.0, left_s_ = 0.0, rate_ = 0.0;
  sim_time since_ = 0, period_ends_ = never;
  bool exhausted_ = false;
};

}  // namespace kilter::sim
