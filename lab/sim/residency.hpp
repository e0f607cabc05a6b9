#pragma once
// What tasks take longer since their data lie in another core's cache: the equations of
// lab/docs/simulator.md.

#include <cstdint>
#include <span>
#include <vector>

#include "sim/platform.hpp"
#include "sim/speeds.hpp"

namespace kilter::sim {

/// Which data a task works on, by numbers from 0.
struct task_data {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::uint32_t read = none;     ///< what it finds; where they are is where they were last written
  std::uint32_t written = none;  ///< what it leaves behind
  double bytes = 0.0;            ///< of what it finds; 0: not told, so its kernel's working set
};

/// Caches forget what was used longest ago: a task's data are there as long as they and all that
/// was worked on there since fit in.
class residency {
 public:
  /// `data` by task; they outlive this.
  residency(const platform&, std::span<const task_data> data);

  [[nodiscard]] std::span<const task_data> data() const noexcept { return data_; }
  /// Seconds that one core needs more than with its own cache to fetch what the other one's has.
  [[nodiscard]] double moved_s(std::uint64_t task, const task_cost&, core_id data_at,
                               core_id to) const noexcept;
  void ran(std::uint64_t task, const task_cost&, core_id at) noexcept;

 private:
  /// How much had come into the caches of its core and of its cluster when it was last written.
  struct datum {
    double of_core = 0.0, of_cluster = 0.0;
  };
  [[nodiscard]] double bytes_of(std::uint64_t task, const task_cost&) const noexcept;

  const platform& platform_;
  std::span<const task_data> data_;
  std::vector<datum> last_;                   // by datum
  std::vector<double> of_core_, of_cluster_;  // bytes so far
};

}  // namespace kilter::sim
