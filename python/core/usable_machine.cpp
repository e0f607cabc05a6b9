#include "core/usable_machine.hpp"

#include <sched.h>

#include <optional>

#include "core/objects.hpp"
#include "machine/cgroup.hpp"
#include "runtime/worker.hpp"

namespace kilter::python {

namespace {
sync::mutex lock;
}

// To look takes milliseconds, and longer on a busy computer, so one look serves until the mask
// changes. That of a worker is its own core's.
machine usable_machine() {
  free_after_fork<lock>();
  static cpu_set_t mask;
  static std::optional<machine> seen;
  cpu_set_t now;
  CPU_ZERO(&now);
  sched_getaffinity(0, sizeof now, &now);
  const sync::lock_guard hold(lock);
  if (!seen || (!CPU_EQUAL(&now, &mask) && !detail::worker::current())) {
    seen = machine::local();
    mask = now;
  }
  return detail::within_quota(*seen, cgroup_quota_cores());
}

}  // namespace kilter::python
