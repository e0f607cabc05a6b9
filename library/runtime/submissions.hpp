#pragma once
// Runs that were submitted from outside and that no worker has begun yet, oldest first.

#include <deque>

#include "base/sync.hpp"
#include "runtime/parking.hpp"

namespace kilter::inline v0::detail {

template <class Run>
class submission_queue {
 public:
  /// `starter`: the best worker to begin it, but only while it has nothing else to do; null: any.
  /// Then it is to be called, and if it does not come, or if there is none, somebody else woken.
  void push(Run* run, parking* starter) {
    {
      const sync::lock_guard hold(lock_);
      waiting_.push_back({run, starter});
      count_.fetch_add(1, sync::memory_order_release);
      if (starter) starter->expect();
    }
    sync::fence();  // whoever searches fences lightly if at all
  }
  [[nodiscard]] bool any() const noexcept { return count_.load(sync::memory_order_relaxed) != 0; }
  /// Whether there is one that `me` may begin.
  [[nodiscard]] bool any_for(const parking& me) noexcept {
    if (count_.load(sync::memory_order_acquire) == 0) return false;
    const sync::lock_guard hold(lock_);
    return find(me) != waiting_.end();
  }
  /// The oldest that `me` may begin, or null.
  Run* take(const parking& me) noexcept {
    if (count_.load(sync::memory_order_acquire) == 0) return nullptr;
    const sync::lock_guard hold(lock_);
    const auto at = find(me);
    if (at == waiting_.end()) return nullptr;
    Run* const run = at->run;
    waiting_.erase(at);
    count_.fetch_sub(1, sync::memory_order_relaxed);
    return run;
  }

 private:
  struct submission {
    Run* run;
    const parking* starter;
  };
  auto find(const parking& me) noexcept {
    auto at = waiting_.begin();
    while (at != waiting_.end() && at->starter && at->starter != &me && at->starter->comes()) ++at;
    return at;
  }

  alignas(sync::cache_line) sync::atomic<std::uint32_t> count_{0};
  sync::mutex lock_;
  std::deque<submission> waiting_;
};

}  // namespace kilter::inline v0::detail
