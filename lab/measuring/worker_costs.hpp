#pragma once
// What the runtime's own queues and sleep cost by how many workers use them at once: pinned threads
// on the classes that workers use, without the rest of a runtime.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apps/kernels.hpp"
#include "kilter/machine.hpp"

namespace kilter::lab {

/// 1, 2, 4, ... and `most`.
[[nodiscard]] std::vector<std::uint32_t> counts_up_to(std::uint32_t most);

// Each takes `seconds`. The first so many cores of the list take part; at most as many as there
// are. Empty if a thread cannot be pinned or the process is interrupted.

/// `lookers` threads look into each other's empty deques, with the worker's pause between two
/// looks: seconds a look.
[[nodiscard]] std::vector<double> look_s(std::span<const core>, std::uint32_t lookers,
                                         double seconds);
/// As many steal what one more thread pushes: seconds from one success of a thief to its next, the
/// stolen line read. Needs a core more than there are lookers.
[[nodiscard]] std::vector<double> steal_s(std::span<const core>, std::uint32_t lookers,
                                          double seconds);
/// `users` push into a shared queue ordered by key and pop from it: seconds from one operation to
/// the next of whomever.
[[nodiscard]] std::vector<double> shared_queue_s(std::span<const core>, std::uint32_t users,
                                                 double seconds);

struct wake_up {
  std::vector<double> call_s, up_s;  ///< what the waker spends; until the sleeper is up
};
/// One thread sleeps as a worker does, the other wakes it once it has slept for a while.
[[nodiscard]] wake_up wake_up_s(const core& waker, const core& sleeper, double seconds);
/// A thread and the co-runner of cpu@ share the core `guest`. While the thread waits for it, it is
/// taken in at `host` (docs/inside/lending.md).
struct lent_core {
  std::vector<double> lend_s;  ///< from when it looks held up until it goes on
  /// a short task later it goes home: for how long the other then had the core when it gives it up
  std::vector<double> keeps_s;
};
[[nodiscard]] lent_core lend_s(const machine&, core_id host, core_id guest, double seconds);

/// What a policy took for its answers.
struct decision_times {
  /// `next_s`: of the answers that send a worker to a queue
  std::vector<double> ready_s, take_s, next_s;
};
/// Of the policies that Kilter has those that are asked while a graph runs.
[[nodiscard]] std::vector<std::string> asked_policies(const machine&);
/// Layered graphs of the kernel, twice as many tasks a layer as cores, on the whole machine under
/// that policy.
[[nodiscard]] decision_times decision_times_of(const std::string& policy,
                                               const std::shared_ptr<const machine>&,
                                               apps::kernel_instance&, std::uint64_t tasks);

}  // namespace kilter::lab
