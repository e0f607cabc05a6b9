#include "runtime/quota.hpp"

#include "kilter/machine.hpp"

namespace kilter::inline v0::detail {

void paid_cores::look(std::int64_t now_ns) {
  constexpr std::int64_t every_ns = 1'000'000'000;
  std::int64_t seen_ns = seen_ns_.load(sync::memory_order_relaxed);
  if (seen_ns > 0 && now_ns - seen_ns < every_ns) return;
  // Another thread that is here already looks for both.
  if (!seen_ns_.compare_exchange_strong(seen_ns, now_ns, sync::memory_order_relaxed)) return;
  count_.store(cgroup_quota_cores().value_or(std::numeric_limits<double>::infinity()),
               sync::memory_order_relaxed);
}

}  // namespace kilter::inline v0::detail
