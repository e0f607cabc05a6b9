#pragma once
// Counts that come to an end, and whoever waits for that: the tasks of a run, and those of a batch
// that a running task added.

#include <algorithm>

#include "base/sync.hpp"
#include "graph/shared_parts.hpp"

namespace kilter::inline v0::detail {

class worker;

/// The tasks of one run that are not yet done.
class run_count {
 public:
  /// Before the first task can run.
  void begin(std::int64_t tasks) noexcept { remaining_.store(tasks, sync::memory_order_relaxed); }
  /// By a task of the run, which is not done itself.
  void add(std::int64_t tasks) noexcept { remaining_.fetch_add(tasks, sync::memory_order_relaxed); }
  /// True for whoever takes off the last: it sees all that the others did, and must call `end`.
  [[nodiscard]] bool take_off(std::int64_t tasks) noexcept {
    return remaining_.fetch_sub(tasks, sync::memory_order_acq_rel) == tasks;
  }

  void end() noexcept {
    done_.fetch_or(over, sync::memory_order_release);
    sync::unpark(done_, 1 << 30);
  }
  [[nodiscard]] bool done() const noexcept {
    return (done_.load(sync::memory_order_acquire) & over) != 0;
  }
  void wait() noexcept {
    wait_until(-1, [] { return false; });
  }
  /// Until the monotonic clock shows `end_ns` (negative: without limit), or `given_up()`, which is
  /// asked again after each `ask_again`. Whether they are done.
  template <class GivenUp>
  bool wait_until(std::int64_t end_ns, GivenUp&& given_up) noexcept {
    for (;;) {
      const std::uint32_t before = done_.load(sync::memory_order_relaxed);
      if (done()) return true;
      if (given_up()) return false;
      std::int64_t left = -1;
      if (end_ns >= 0 && (left = end_ns - sync::nanoseconds()) <= 0) return false;
      sync::park(done_, before, left);
    }
  }
  /// After what makes somebody give up.
  void ask_again() noexcept {
    done_.fetch_add(one_more, sync::memory_order_release);
    sync::unpark(done_, 1 << 30);
  }

 private:
  // Of the futex word: the lowest bit, and a count beside it that only has to change.
  static constexpr std::uint32_t over = 1, one_more = 2;
  sync::atomic<std::int64_t> remaining_{0};
  sync::atomic<std::uint32_t> done_{0};
};

/// Those who wait for single tasks of one run.
class end_waiters {
 public:
  /// Returns when the task has ended, when the run is `over()`, or when the monotonic clock shows
  /// `until_ns` (negative: never).
  template <class Over>
  void wait(task_end& end, std::uint8_t epoch, std::int64_t until_ns, Over&& over) {
    constexpr std::int64_t nap_ns = 1'000'000;
    const bool is_told = end.announce_wait(epoch);
    for (;;) {
      const std::uint32_t before = told_.load(sync::memory_order_acquire);
      if (end.has_come(epoch) || over()) return;
      std::int64_t left = -1;
      if (until_ns >= 0 && (left = until_ns - sync::nanoseconds()) <= 0) return;
      if (!is_told) left = left < 0 ? nap_ns : std::min(left, nap_ns);
      sync::park(told_, before, left);
    }
  }
  void tell() noexcept {
    told_.fetch_add(1, sync::memory_order_release);
    sync::unpark(told_, 1 << 30);
  }

 private:
  sync::atomic<std::uint32_t> told_{0};  // futex word
};

/// The tasks of one batch that are not yet done, and one for the batch itself. Whoever takes off
/// the last one deletes it.
class batch_count {
 public:
  /// `waiter`: the worker that added them and may wait; null if nobody does.
  explicit batch_count(worker* waiter) noexcept : waiter_(waiter) {}
  batch_count(const batch_count&) = delete;
  batch_count& operator=(const batch_count&) = delete;

  /// Before they are made ready.
  void add(std::uint32_t tasks) noexcept { open_.fetch_add(tasks, sync::memory_order_relaxed); }
  /// Asked by whoever holds the batch.
  [[nodiscard]] bool all_done() const noexcept {
    return open_.load(sync::memory_order_acquire) == 1;
  }
  /// A task is done. Returns the waiter if it was the last; this may be gone by then.
  [[nodiscard]] worker* task_done() noexcept {
    worker* const waiter = waiter_;
    const std::uint32_t before = open_.fetch_sub(1, sync::memory_order_acq_rel);
    if (before == 1) delete this;
    return before == 2 ? waiter : nullptr;
  }
  /// The batch itself needs it no more.
  void let_go() noexcept {
    if (open_.fetch_sub(1, sync::memory_order_acq_rel) == 1) delete this;
  }

 private:
  ~batch_count() = default;
  sync::atomic<std::uint32_t> open_{1};
  worker* const waiter_;
};

}  // namespace kilter::inline v0::detail
