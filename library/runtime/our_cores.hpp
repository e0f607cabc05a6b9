#pragma once
// Which cores of its machine a runtime uses while others of Kilter have something to do, too, in
// other programs or in this one. A thread of its own tells the page that all of them know
// (sharing/page.hpp) how many cores could be used now, and hears which are whose; so a task costs
// nothing, and a body that takes long keeps nobody waiting. It sleeps while nothing runs.
// docs/inside/sharing.md says what becomes of tasks.

#include <cstdint>
#include <vector>

#include "base/sync.hpp"
#include "sharing/page.hpp"

namespace kilter::detail {

class engine;

class our_cores {
 public:
  explicit our_cores(engine& of) noexcept : of_(of) {}

  /// All of them are ours until something runs. Once the workers have been started, if at all.
  void begin();
  /// Nobody has to leave us any. No effect if it has not begun.
  void end() noexcept;
  /// Something is to run: counted in `engine::active` before.
  void something_runs() noexcept {
    if (sleeps_.load(sync::memory_order_seq_cst)) [[unlikely]]
      wake();
  }

 private:
  void look_on() noexcept;
  void wake() noexcept;
  [[nodiscard]] std::uint32_t could_use() noexcept;
  void become(const sharing::share&) noexcept;

  engine& of_;
  sharing::page page_;
  sharing::cpu_bits allowed_;
  sync::thread looks_;
  sync::atomic<std::uint32_t> ticket_{0};
  sync::atomic<bool> sleeps_{false}, ends_{false};
  bool settled_ = true;  // each worker's thread is where it belongs
};

}  // namespace kilter::detail
