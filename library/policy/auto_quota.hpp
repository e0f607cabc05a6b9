#pragma once
// What `auto` does with CPU time under a quota, as plain numbers: an account of what was paid for
// and not spent, and the cores on which it is better spent.

#include <cstdint>
#include <limits>
#include <optional>

namespace kilter::auto_parts {

/// CPU time that a quota has paid for lately and that nobody has spent.
struct savings {
  /// at most what a period's end leaves; negative if more was spent than paid for
  double saved_s = 0.0;
  double lapsed_s = 0.0;  ///< beyond that: to be put down as spent
};
/// `paid`: cores; `spent_s`: CPU time that was put down as spent until now.
[[nodiscard]] savings savings_at(double now_s, double paid, double spent_s) noexcept;

/// CPU time of a task as it is put down: what predictions are wrong by must not add up to savings
/// that are none.
[[nodiscard]] double charge_s(double task_s, std::uint32_t width) noexcept;

/// Cores on which a quota is better spent than on this one, and whether they and those at work use
/// it up.
class quota_claims {
 public:
  /// `paid`: cores; `mine_s`: CPU time of the task on this core.
  quota_claims(double paid, double mine_s) noexcept;
  [[nodiscard]] bool faster(double cpu_s) const noexcept { return cpu_s < faster_s_; }
  /// Another core. `free_s`: engine time; counts if it is faster.
  void add(double cpu_s, bool idle, double free_s) noexcept;
  /// When the first of the faster ones is free, if all is used up; engine time.
  [[nodiscard]] std::optional<double> used_up_until_s() const noexcept;

 private:
  double paid_, faster_s_;
  double used_ = 0.0;  // cores
  double first_free_s_ = std::numeric_limits<double>::infinity();
};

}  // namespace kilter::auto_parts
