#pragma once
// Who looks after workers that are held up, so that one that has nothing to do lends its core
// (lending.cpp): one of those that sleep, and one at a time.

#include <cstdint>
#include <vector>

#include "base/spin_lock.hpp"
#include "base/sync.hpp"

namespace kilter::inline v0::detail {

class lookout {
 public:
  /// While no worker runs. `lends`: cores are lent here at all.
  void begin(bool lends, std::size_t workers) {
    lends_ = lends;
    cpu_ns_seen_.resize(workers);
  }
  [[nodiscard]] bool lends() const noexcept { return lends_; }

  // --- one that sleeps watches: it looks again after a while ---
  /// Nobody does, where somebody should.
  [[nodiscard]] bool is_missed() const noexcept {
    return lends_ && !watched_.load(sync::memory_order_relaxed);
  }
  /// Whether it is the caller, from here on.
  [[nodiscard]] bool begin_to_watch() noexcept {
    return !watched_.load(sync::memory_order_relaxed) &&
           !watched_.exchange(true, sync::memory_order_relaxed);
  }
  void end_watch() noexcept { watched_.store(false, sync::memory_order_relaxed); }

  /// `look(cpu_ns)`, unless another thread is in it. `cpu_ns`: room for the CPU time of each
  /// worker.
  template <class Look>
  void look(Look&& look) {
    if (!one_looks_.try_lock()) return;
    const sync::lock_guard hold(one_looks_, std::adopt_lock);
    look(cpu_ns_seen_);
  }

 private:
  bool lends_ = false;
  sync::atomic<bool> watched_{false};
  sync::spin_lock one_looks_;
  std::vector<std::int64_t> cpu_ns_seen_;
};

}  // namespace kilter::inline v0::detail
