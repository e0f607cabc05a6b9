#pragma once
// How many cores' worth of time a container leaves to the program. Its limit can change while it
// runs.

#include <cstdint>
#include <limits>

#include "base/sync.hpp"

namespace kilter::inline v0::detail {

class paid_cores {
 public:
  /// Infinite until it is looked at, and where there is no limit.
  [[nodiscard]] double count() const noexcept { return count_.load(sync::memory_order_relaxed); }
  /// Before a run. Reading the limit takes some hundred microseconds, so it is done once a second
  /// at most.
  void look(std::int64_t now_ns);

 private:
  sync::atomic<std::int64_t> seen_ns_{0};  // by the monotonic clock; 0: never
  sync::atomic<double> count_{std::numeric_limits<double>::infinity()};
};

}  // namespace kilter::inline v0::detail
