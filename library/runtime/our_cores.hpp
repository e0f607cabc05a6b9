#pragma once
// Which cores of its machine a runtime uses while others of Kilter have something to do, too, in
// other programs or in this one. A thread of its own tells the page that all of them know
// (sharing/page.hpp) how many cores could be used now, and hears which are whose; so a task costs
// nothing, and a body that takes long keeps nobody waiting. It sleeps while nothing runs.
// docs/inside/sharing.md says what becomes of tasks.

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "base/sync.hpp"
#include "kilter/ids.hpp"
#include "sharing/page.hpp"

namespace kilter::inline v0::detail {

class engine;
class worker;
struct task_kind;

class our_cores {
 public:
  explicit our_cores(engine& of) noexcept : of_(of) {}

  // --- its life ---
  /// All of them are ours until something runs. Once the workers have been started, if at all.
  void begin(bool pinned);
  /// Nobody has to leave us any. No effect if it has not begun.
  void end() noexcept;
  /// Something is to run: it counts as active before.
  void something_runs() noexcept {
    if (sleeps_.load(sync::memory_order_seq_cst)) [[unlikely]]
      wake();
  }
  /// Something waits that a core could take which another program has.
  void lack() noexcept {
    if (given() != 0 && !lacks_.load(sync::memory_order_relaxed))
      lacks_.store(true, sync::memory_order_relaxed);
  }

  // --- whose they are ---
  /// How many other programs have.
  [[nodiscard]] std::uint32_t given() const noexcept {
    return given_.load(sync::memory_order_relaxed);
  }
  [[nodiscard]] bool all_ours(place_id) const noexcept;
  /// `c`, or one that stands in for it: of the same cluster if possible.
  [[nodiscard]] core_id core_of_ours(core_id c) const noexcept;
  /// `wanted`, or if another program has a core of it a place that the kind allows, around `near`
  /// if possible. `wanted` if there is none.
  [[nodiscard]] place_id place_of_ours(const task_kind&, place_id wanted,
                                       core_id near) const noexcept;
  /// By core, not 0 for those that take no part in a loop which `caller` runs: those that another
  /// program has. If the caller's is one, it works on one of ours, whose worker then leaves that to
  /// it. Empty if all take part.
  [[nodiscard]] std::vector<std::uint8_t> without_loops(core_id caller) const;
  /// To its core, or if another program has that, to any of ours.
  bool pin_home(core_id, pid_t thread) const noexcept;

  // --- the policy is told that cores came or went ---
  [[nodiscard]] bool policy_is_to_hear() const noexcept {
    return tell_policy_.load(sync::memory_order_relaxed);
  }
  /// Question 6, by one of the workers.
  void tell_policy(worker&) noexcept;

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
  alignas(sync::cache_line) sync::atomic<std::uint32_t> given_{0};
  sync::atomic<bool> lacks_{false};        // until it is told
  sync::atomic<bool> tell_policy_{false};  // cores came or went
};

}  // namespace kilter::inline v0::detail
