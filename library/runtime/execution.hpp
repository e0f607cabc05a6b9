#pragma once
// One run of one graph, as the workers count it.

#include <exception>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/sync.hpp"
#include "graph/node.hpp"
#include "kilter/runtime.hpp"
#include "runtime/completion.hpp"

namespace kilter::inline v0::detail {

class engine;

/// What one worker did for one execution. Written by that worker only, read when the execution is
/// done.
struct alignas(sync::cache_line) worker_tally {
  std::uint64_t done = 0;  ///< tasks finished, not yet taken off the run's count
  std::uint64_t bodies = 0;
  std::uint64_t work_cycles = 0;
  std::uint64_t steals = 0, late_leaders = 0;
  // Dynamic tasks: their memory, numbers reserved for them, and the kind of the last one.
  node* free_dynamic = nullptr;
  block_list blocks;
  std::uint64_t next_serial = 0, serials_end = 0;
  std::uint16_t last_kind = 0;
  std::vector<execution_stats::place_count> places;

  void count(const node* n, place_id where) noexcept {
    ++(n->flags & flag_critical ? places[where].critical : places[where].other);
  }
};

/// What a policy expects a task to add to a core's load.
struct busy_estimate {
  core_id core;
  double seconds;
};

struct execution_state {
  execution_state(engine& e, graph_core& g, std::uint32_t workers, std::size_t place_count);
  execution_state(const execution_state&) = delete;
  execution_state& operator=(const execution_state&) = delete;

  engine& owner;
  graph_core& graph;
  std::uint64_t number = 0;     ///< counts the submissions of the engine
  core_id as_worker = no_core;  ///< the waker of the roots
  std::int64_t submitted_ns = 0, finished_ns = 0;
  std::int64_t planned_ns = 0;  ///< what the policy took for question 1
  double cycles_per_second = 1.0;
  double time_scale = 1.0;
  std::uint64_t explored_before = 0, explored = 0;

  alignas(sync::cache_line) run_count tasks;
  alignas(sync::cache_line) sync::atomic<bool> cancelled{false};
  sync::atomic<bool> leaves_out{false};  ///< so are some tasks, or all
  sync::atomic<bool> has_busy_estimates{false};
  std::uint8_t epoch = 0;  ///< graph_core::epoch of this run
  const std::uint32_t workers;
  std::vector<worker_tally> tallies;  ///< one a worker

  /// held while the engine lets go of this
  const std::shared_ptr<sync::mutex> released = std::make_shared<sync::mutex>();
  sync::mutex lock;  ///< guards what follows
  std::exception_ptr first_exception;
  bool cancelled_by_user = false;
  /// what on_ready or on_take added, to be taken off again
  std::unordered_map<const node*, busy_estimate> busy_estimates;

  /// Remembers the first exception and stops the bodies that have not started.
  void fail(std::exception_ptr) noexcept;
  void cancel() noexcept;
  /// From here on a requested stop cancels it. Once, while it is active.
  void cancel_on(const sync::stop_token&) noexcept;

  // --- one task of it ---
  /// Its body is not to begin; if it has, it is to return early.
  [[nodiscard]] bool stops(const node* n) const noexcept {
    return cancelled.load(sync::memory_order_acquire) ||
           n->stopped.load(sync::memory_order_relaxed) == epoch;
  }
  /// Leaves its body out, and what depends on it; no effect once it has ended.
  void stop(node*) noexcept;
  [[nodiscard]] bool ended(const node* n) const noexcept { return n->end.has_come(epoch); }
  /// Returns when it has ended, when the monotonic clock shows `end_ns` (negative: never), or when
  /// a stop is requested. Whether it has.
  bool wait_for_end(node*, std::int64_t end_ns, const sync::stop_token&);
  /// One that somebody waits for has ended.
  void tell_of_end() noexcept;

 private:
  void leave_bodies_out() noexcept;
  end_waiters waiters_;
  struct cancels {
    execution_state& it;
    void operator()() const noexcept { it.cancel(); }
  };
  // The last: it goes first, and waits for a request that is cancelling just now.
  std::optional<sync::stop_callback<cancels>> stop_;
};

/// The run that a task of a running graph belongs to.
inline execution_state& execution_of(const node* n) noexcept {
  return *static_cast<execution_state*>(graph_of(n).execution.load(sync::memory_order_relaxed));
}

}  // namespace kilter::inline v0::detail
