#pragma once
// The shapes that every runtime is given, and what their tasks do. In all of them a task has one predecessor at most.

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/kernels.hpp"
#include "base/sync.hpp"
#include "lab/layered.hpp"

namespace kilter::bench {

struct dag {
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  std::vector<std::uint32_t> parent;   ///< the predecessor of each task, ascending; none for a root; roots come first
  std::vector<std::uint8_t> critical;  ///< 1: on the critical path, as the user says

  [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(parent.size()); }
};

[[nodiscard]] dag independent(std::uint32_t tasks);
/// A chain is one critical path; `flagged` says whether the user has said so.
[[nodiscard]] dag chain(std::uint32_t tasks, bool flagged);
/// The DAG of graph/layered_shape.hpp, task by task.
[[nodiscard]] dag layered(const layered_shape&);

/// What a task does: nothing, or one run of a kernel. With `ends`, every task also leaves the cycle count of its end there.
struct workload {
  apps::kernel_instance* kernel = nullptr;
  std::vector<std::uint64_t>* ends = nullptr;

  [[nodiscard]] bool empty() const noexcept { return kernel == nullptr; }
  void run(std::uint32_t task) const noexcept {
    kernel->run(task);
    note_end(task);
  }
  /// Several members of a wide task may come here; the last one is the end.
  void note_end(std::uint32_t task) const noexcept {
    if (ends) std::atomic_ref((*ends)[task]).store(sync::cycles(), std::memory_order_relaxed);
  }
};

}  // namespace kilter::bench
