#pragma once
// What workers share of a graph while it runs, apart from the tasks: it is checked without them
// (tests/model).

#include <array>
#include <cstdint>

#include "base/sync.hpp"

namespace kilter::inline v0::detail {

/// A task's predecessors that are not yet done.
class pending_count {
 public:
  void set(std::uint32_t predecessors) noexcept {
    left_.store(predecessors, sync::memory_order_relaxed);
  }
  /// One of them is done. True for the last: it sees what all of them did. Then it counts again,
  /// for the next run.
  [[nodiscard]] bool one_done(std::uint32_t predecessors) noexcept {
    if (left_.fetch_sub(1, sync::memory_order_acq_rel) != 1) return false;
    set(predecessors);
    return true;
  }
  /// The same where only one thread runs tasks.
  [[nodiscard]] bool one_done_alone(std::uint32_t predecessors) noexcept {
    const std::uint32_t before = left_.load(sync::memory_order_relaxed);
    set(before == 1 ? predecessors : before - 1);
    return before == 1;
  }

 private:
  sync::atomic<std::uint32_t> left_{0};
};

/// The end of a task, for those who wait for it. What holds in one run names that run by its number
/// (graph_core::epoch), so that no run has to begin by clearing it. Who ends the task pays for no
/// fence: who waits makes sure that one of the two sees the other.
class task_end {
 public:
  /// `left_out`: its body did not come to its own end. True if somebody waits for it, and must be
  /// told (end_waiters::tell).
  [[nodiscard]] bool set(std::uint8_t epoch, bool left_out) noexcept {
    ended_.store(static_cast<std::uint8_t>(2 * epoch + left_out), sync::memory_order_release);
    sync::compiler_fence();
    return awaited_.load(sync::memory_order_relaxed) == epoch;
  }
  [[nodiscard]] bool has_come(std::uint8_t epoch) const noexcept {
    return ended_.load(sync::memory_order_acquire) / 2 == epoch;
  }
  /// Of one that has come.
  [[nodiscard]] bool left_out() const noexcept {
    return ended_.load(sync::memory_order_acquire) % 2 != 0;
  }
  /// From here on either has_come() or set() tells. False if the machine cannot make sure of that:
  /// then the waiter has to look now and then.
  bool announce_wait(std::uint8_t epoch) noexcept {
    awaited_.store(epoch, sync::memory_order_relaxed);
    return sync::heavy_fence();
  }

 private:
  sync::atomic<std::uint8_t> ended_{0}, awaited_{0};
};

/// Readers need no lock while one writer appends: nothing ever moves.
template <class T, std::uint32_t per_chunk, std::uint32_t chunks>
class append_list {
 public:
  append_list() = default;
  append_list(const append_list&) = delete;
  append_list& operator=(const append_list&) = delete;
  ~append_list() {
    for (auto& c : chunks_) delete[] c.load(sync::memory_order_relaxed);
  }
  [[nodiscard]] std::uint32_t size() const noexcept {
    return size_.load(sync::memory_order_acquire);
  }
  [[nodiscard]] T& operator[](std::uint32_t i) const noexcept {
    return chunks_[i / per_chunk].load(sync::memory_order_acquire)[i % per_chunk];
  }
  T& append() {
    const std::uint32_t i = size_.load(sync::memory_order_relaxed);
    auto& c = chunks_[i / per_chunk];
    if (!c.load(sync::memory_order_relaxed)) c.store(new T[per_chunk], sync::memory_order_release);
    return c.load(sync::memory_order_relaxed)[i % per_chunk];
  }
  /// Makes what append() returned visible.
  void publish() noexcept {
    size_.store(size_.load(sync::memory_order_relaxed) + 1, sync::memory_order_release);
  }

 private:
  std::array<sync::atomic<T*>, chunks> chunks_{};
  sync::atomic<std::uint32_t> size_{0};
};

}  // namespace kilter::inline v0::detail
