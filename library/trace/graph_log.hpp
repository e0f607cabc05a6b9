#pragma once
// What the tasks of a run were and why each one waited. With the task events it gives the run's
// graph, also of tasks that running tasks added.

#include <cstdint>
#include <string>
#include <vector>

#include "base/sync.hpp"

namespace kilter::trace {

/// `graph` and a task's number are those of its events (event.hpp); times are theirs too.
class graph_log {
 public:
  struct task {
    std::uint32_t graph = 0, number = 0;
    std::string type;
    bool high = false;
    std::vector<std::uint32_t> widths;  ///< allowed ones; empty: all
  };
  struct edge {
    std::uint32_t graph = 0, from = 0, to = 0;
    double cost_s = 0.0;
  };
  /// Task `by` added these to its graph and handed them over at that time. `batch` is that of a
  /// wait only if that waits for them.
  struct release {
    std::uint32_t graph = 0, by = 0, batch = 0;
    std::int64_t at_ns = 0;
    std::vector<std::uint32_t> tasks;
  };
  /// Task `by` stood still from begin to end, until all that it had released under that number was
  /// done.
  struct wait {
    std::uint32_t graph = 0, by = 0, batch = 0;
    std::int64_t begin_ns = 0, end_ns = 0;
    bool at_once = false;  ///< it began with the batch's last release
  };
  struct content {
    std::vector<task> tasks;
    std::vector<edge> edges;
    std::vector<release> releases;
    std::vector<wait> waits;
    bool complete = true;  ///< false: memory ran out
  };

  /// From any thread, each under a lock.
  void add(std::vector<task>, const std::vector<edge>&);
  void add(release);
  void add(const wait&);
  /// Something could not be added.
  void lose() noexcept;
  /// A number for what one wait will wait for.
  [[nodiscard]] std::uint32_t new_batch() noexcept {
    return batches_.fetch_add(1, sync::memory_order_relaxed);
  }
  /// All that was added; nothing is left. No run may be going on.
  [[nodiscard]] content take();

 private:
  sync::mutex lock_;
  sync::atomic<std::uint32_t> batches_{0};
  content all_;
};

}  // namespace kilter::trace
