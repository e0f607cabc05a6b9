#pragma once
// The time that an engine tells, and the lengths of time that its workers go by.

#include <cstdint>

#include "base/sync.hpp"

namespace kilter::inline v0::detail {

/// Readings of the cycle counter as the engine tells them: in seconds of the machine that it
/// emulates, where it emulates one.
class engine_clock {
 public:
  /// `scale`: seconds of this computer in one second that is told. `searches`: a worker that runs
  /// dry looks for work for a while before it sleeps.
  engine_clock(double scale, bool searches) noexcept;

  [[nodiscard]] double scale() const noexcept { return scale_; }
  /// Cycles of this computer in one second that is told.
  [[nodiscard]] double cycles_per_second() const noexcept { return 1.0 / seconds_per_cycle_; }
  [[nodiscard]] std::uint64_t cycles(double seconds) const noexcept {
    return static_cast<std::uint64_t>(seconds / seconds_per_cycle_);
  }
  [[nodiscard]] double seconds(std::uint64_t cycles) const noexcept {
    return static_cast<double>(cycles) * seconds_per_cycle_;
  }
  /// Since the engine began, at a reading of the counter.
  [[nodiscard]] double at_s(std::uint64_t reading) const noexcept {
    return seconds(reading - start_cycles_);
  }
  [[nodiscard]] double now_s() const noexcept { return at_s(sync::cycles()); }
  /// The same as events count it.
  [[nodiscard]] std::int64_t at_ns(std::uint64_t reading) const noexcept {
    return static_cast<std::int64_t>(static_cast<double>(reading - start_cycles_) *
                                     seconds_per_cycle_ * 1e9);
  }
  [[nodiscard]] std::int64_t now_ns() const noexcept { return at_ns(sync::cycles()); }

  // --- in cycles of this computer ---
  /// How long a worker looks for work before it sleeps.
  [[nodiscard]] std::uint64_t spin() const noexcept { return spin_; }
  /// Likewise, after a sleep that this would have saved.
  [[nodiscard]] std::uint64_t long_spin() const noexcept { return long_spin_; }
  /// A worker looks for work, and between two looks passes so much: somebody else had the core.
  [[nodiscard]] std::uint64_t gap() const noexcept { return gap_; }
  /// From here on the CPU time of a body is measured, too.
  [[nodiscard]] std::uint64_t long_body() const noexcept { return long_body_; }
  /// Below, bodies are timed in rows.
  [[nodiscard]] std::uint64_t short_body() const noexcept { return short_body_; }

 private:
  double scale_, seconds_per_cycle_;
  std::uint64_t start_cycles_;
  std::uint64_t spin_, long_spin_, gap_, long_body_, short_body_;
};

}  // namespace kilter::inline v0::detail
