#pragma once
// Where the thread of a pinned worker stands: on its own core or, while it was held up there with
// something in hand that others wait for, on the core of a worker that has nothing to do.
// docs/inside/lending.md has the protocol.
//
// Whoever moves a thread holds its lock. The thread itself holds it for as long as it takes to come
// home, where it may have to wait for its core; others only try the lock, so nobody waits with it
// and nobody moves it meanwhile.

#include "base/spin_lock.hpp"
#include "kilter/ids.hpp"

namespace kilter::inline v0::detail {

/// Somebody whose CPU time stands still for so long has no core.
inline constexpr double off_core_s = 10e-6;

class lodging {
 public:
  explicit lodging(core_id home) noexcept : home_(home) {}

  // --- anybody's ---
  [[nodiscard]] bool away() const noexcept {
    return host_.load(sync::memory_order_relaxed) != no_core;
  }
  [[nodiscard]] bool is_at(core_id host) const noexcept {
    return host_.load(sync::memory_order_relaxed) == host;
  }
  /// By the worker of `host`, if the thread is still at home and `held_up()`. `pin(core)` puts the
  /// thread there; false: it could not.
  template <class HeldUp, class Pin>
  bool lend(core_id host, const HeldUp& held_up, const Pin& pin) noexcept {
    if (!lock_.try_lock()) return false;
    const sync::lock_guard hold(lock_, std::adopt_lock);
    if (away() || !held_up()) return false;
    // First: once it is there it may take the core from the caller at once, and must know.
    host_.store(host, sync::memory_order_relaxed);
    if (pin(host)) return true;
    host_.store(no_core, sync::memory_order_relaxed);
    return false;
  }
  /// By the worker of `host`, which needs its core again.
  template <class Pin>
  void send_home(core_id host, const Pin& pin) noexcept {
    if (!is_at(host) || !lock_.try_lock()) return;  // locked: it is on its way
    const sync::lock_guard hold(lock_, std::adopt_lock);
    if (!is_at(host)) return;
    pin(home_);
    host_.store(no_core, sync::memory_order_relaxed);
  }
  /// Where it is at home has changed, so it goes there from wherever it is. False if it could not,
  /// or is on its way just now.
  template <class Pin>
  bool resettle(const Pin& pin) noexcept {
    if (!lock_.try_lock()) return false;
    const sync::lock_guard hold(lock_, std::adopt_lock);
    host_.store(no_core, sync::memory_order_relaxed);
    return pin(home_);
  }

  // --- its own thread's ---
  template <class Pin>
  void go_home(const Pin& pin) noexcept {
    const sync::lock_guard hold(lock_);
    if (!away()) return;
    pin(home_);
    host_.store(no_core, sync::memory_order_relaxed);
  }
  /// What it has done since its last return was done on its own core, all of it.
  [[nodiscard]] bool stayed() noexcept {
    const sync::lock_guard hold(lock_);
    return !away();
  }

 private:
  const core_id home_;
  sync::spin_lock lock_;
  sync::atomic<core_id> host_{no_core};
};

}  // namespace kilter::inline v0::detail
