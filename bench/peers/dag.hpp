#pragma once
// The shapes that every runtime is given, and what their tasks do. A task has one predecessor at
// most, or all tasks of the layer before.

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/kernels.hpp"
#include "base/sync.hpp"
#include "workloads/layered.hpp"

namespace kilter::bench {

struct dag {
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  /// the predecessor of each task, ascending; none for a root; roots come first
  std::vector<std::uint32_t> parent;
  std::vector<std::uint8_t> critical;  ///< 1: on the critical path, as the user says
  /// above 0: layers of so many tasks, and each layer waits for the whole one before; parents count
  /// for nothing
  std::uint32_t barrier = 0;

  [[nodiscard]] std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(parent.size());
  }
};

[[nodiscard]] dag independent(std::uint32_t tasks);
/// A chain is one critical path; `flagged` says whether the user has said so.
[[nodiscard]] dag chain(std::uint32_t tasks, bool flagged);
/// The DAG of graph/layered_shape.hpp, task by task.
[[nodiscard]] dag layered(const layered_shape&);
/// Layers of `width` tasks with a barrier after each: a loop that is repeated. Whole layers only,
/// at least one.
[[nodiscard]] dag barriers(std::uint32_t tasks, std::uint32_t width);

/// What a task does: nothing, or one run of a kernel. With `ends`, every task also leaves the cycle
/// count of its end there.
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
