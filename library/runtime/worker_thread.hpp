#pragma once
// The thread of one worker as the operating system knows it: its number, its CPU time, and the core
// that it stands on. lending.cpp moves it.

#include <sys/types.h>

#include <cstdint>
#include <utility>

#include "base/sync.hpp"
#include "runtime/clock.hpp"
#include "runtime/cpu_time.hpp"
#include "runtime/lodging.hpp"
#include "runtime/our_cores.hpp"
#include "runtime/pinning.hpp"

namespace kilter::inline v0::detail {

class worker_thread {
 public:
  explicit worker_thread(core_id home) noexcept : lodging_(home) {}

  // --- its own ---
  void begins() noexcept { number_.store(thread_number(), sync::memory_order_relaxed); }
  void ends() noexcept { number_.store(0, sync::memory_order_relaxed); }
  void go_home(const our_cores& cores) noexcept {
    lodging_.go_home([&](core_id home) { return cores.pin_home(home, number()); });
  }
  /// What it has done since its last return was done on its own core, all of it.
  [[nodiscard]] bool stayed() noexcept { return lodging_.stayed(); }

  // --- anybody's ---
  [[nodiscard]] bool away() const noexcept { return lodging_.away(); }
  [[nodiscard]] bool is_at(core_id host) const noexcept { return lodging_.is_at(host); }
  /// Negative if it cannot be told, as when it has ended.
  [[nodiscard]] std::int64_t cpu_nanoseconds() const noexcept {
    return cpu_nanoseconds_of(number());
  }
  [[nodiscard]] bool wants_cpu() const noexcept { return kilter::detail::wants_cpu(number()); }
  /// To the core of `host`, if it is at home and `held_up()`. Whether it went.
  template <class HeldUp>
  bool lend(core_id host, const machine& m, const HeldUp& held_up) noexcept {
    return lodging_.lend(host, held_up, [&](core_id to) { return pin_to(m, to, number()); });
  }
  /// By the worker of `host`, which needs its core again.
  void send_home(core_id host, const our_cores& cores) noexcept {
    lodging_.send_home(host, [&](core_id home) { return cores.pin_home(home, number()); });
  }
  /// It goes where it belongs by now; false if that is to be tried again.
  bool settle(const our_cores& cores) noexcept {
    return lodging_.resettle([&](core_id home) { return cores.pin_home(home, number()); });
  }

 private:
  [[nodiscard]] pid_t number() const noexcept { return number_.load(sync::memory_order_relaxed); }

  lodging lodging_;
  sync::atomic<pid_t> number_{0};  // 0: it has not begun, or has ended
};

/// The thread that a worker has lent its core.
class guest {
 public:
  [[nodiscard]] explicit operator bool() const noexcept { return thread_ != nullptr; }
  /// False if it has gone by itself.
  [[nodiscard]] bool is_at(core_id host) const noexcept { return thread_ && thread_->is_at(host); }
  void comes(worker_thread& t, std::int64_t cpu_ns) noexcept {
    thread_ = &t;
    seen_ = {sync::cycles(), cpu_ns};
  }
  /// It had less than the whole core since the last look that told.
  [[nodiscard]] bool is_disturbed(const engine_clock&) noexcept;
  void send_home(core_id host, const our_cores& cores) noexcept {
    std::exchange(thread_, nullptr)->send_home(host, cores);
  }

 private:
  worker_thread* thread_ = nullptr;
  cpu_reading seen_;
};

}  // namespace kilter::inline v0::detail
