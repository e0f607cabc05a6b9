#pragma once
// A thread that does a worker's part of a team of all members, while the worker itself is inside a
// task and must not block in another.

#include <memory>

#include "base/sync.hpp"

namespace kilter::inline v0::detail {

/// Its worker's, but for what the thread itself calls.
class stand_in_thread {
 public:
  /// It is inside a team: another has to wait.
  [[nodiscard]] bool busy() const noexcept { return busy_.load(sync::memory_order_acquire); }
  /// Not while it is busy. std::system_error if there is no thread; then it is not busy either.
  template <class F>
  void start(F&& f) {
    join();
    busy_.store(true, sync::memory_order_relaxed);
    try {
      thread_ = std::make_unique<sync::thread>(std::forward<F>(f));
    } catch (...) {
      busy_.store(false, sync::memory_order_relaxed);
      throw;
    }
  }
  /// By the thread: it has left the team.
  void is_free() noexcept { busy_.store(false, sync::memory_order_release); }
  /// It may still be giving back what it took part in.
  void join() {
    if (thread_) thread_->join();
    thread_.reset();
  }

 private:
  std::unique_ptr<sync::thread> thread_;
  sync::atomic<bool> busy_{false};
};

}  // namespace kilter::inline v0::detail
