#pragma once
// The runtime's lock for a few instructions. Apart from sync.hpp, so that it is checked with what
// it is built on replaced.

#include "base/sync.hpp"

namespace kilter::sync {

/// A lock for a few instructions: spins, then yields. Meets BasicLockable.
class spin_lock {
 public:
  void lock() noexcept {
    for (int spins = 0; held_.exchange(true, memory_order_acquire);)
      while (held_.load(memory_order_relaxed)) {
        if (++spins < 64)
          relax();
        else
          yield();
      }
  }
  bool try_lock() noexcept {
    return !held_.load(memory_order_relaxed) && !held_.exchange(true, memory_order_acquire);
  }
  void unlock() noexcept { held_.store(false, memory_order_release); }

 private:
  atomic<bool> held_{false};
};

}  // namespace kilter::sync
