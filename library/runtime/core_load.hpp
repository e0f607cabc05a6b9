#pragma once
// What the policy expects of work on one core that is not yet done.

#include <cstdint>

#include "base/sync.hpp"

namespace kilter::inline v0::detail {

/// Any thread.
class core_load {
 public:
  void add(double seconds) noexcept { ns_.fetch_add(in_ns(seconds), sync::memory_order_relaxed); }
  /// As many as were added.
  void take_off(double seconds) noexcept {
    ns_.fetch_sub(in_ns(seconds), sync::memory_order_relaxed);
  }
  [[nodiscard]] double seconds() const noexcept {
    return static_cast<double>(ns_.load(sync::memory_order_relaxed)) * 1e-9;
  }

 private:
  // whole numbers, so that nothing is left over when all were taken off
  static std::int64_t in_ns(double seconds) noexcept {
    return static_cast<std::int64_t>(seconds * 1e9);
  }
  sync::atomic<std::int64_t> ns_{0};
};

}  // namespace kilter::inline v0::detail
