#pragma once
// The runs of an engine that are not done: how they begin and end, and who ends all of them.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/sync.hpp"
#include "kilter/task_ref.hpp"
#include "runtime/execution.hpp"

namespace kilter::inline v0::detail {

class active_runs {
 public:
  // --- whether any may begin ---
  [[nodiscard]] bool open() const noexcept { return open_.load(sync::memory_order_seq_cst); }
  /// From here on runs may begin.
  void admit() noexcept { open_.store(true, sync::memory_order_seq_cst); }
  /// No further run begins; those that are active are cancelled and waited for.
  void shut();

  // --- one run ---
  /// It gets its number and counts as active, with `last` as the last step of that, which nobody
  /// else sees unfinished. usage_error if none may begin.
  template <class Last>
  void begin(const std::shared_ptr<execution_state>& run, Last&& last) {
    const sync::lock_guard hold(lock_);
    check_admission();
    active_.push_back(run);
    run->number = submitted_++;
    count_.fetch_add(1, sync::memory_order_seq_cst);
    last();
  }
  /// It has begun, but no worker knows of it.
  void withdraw(execution_state&) noexcept;
  /// Its last task is done. Afterwards it may be gone.
  void end(execution_state&) noexcept;
  /// Its bodies are left out from here on. Once a run, under its lock, before it is done.
  void is_cancelled() noexcept;
  /// Of that graph; null if none is active.
  [[nodiscard]] std::shared_ptr<execution_state> of(const graph_core&) noexcept;

  // --- all of them ---
  [[nodiscard]] bool any() const noexcept { return count_.load(sync::memory_order_seq_cst) != 0; }
  /// usage_error that says `what` cannot be done now.
  void refuse_while_any(const char* what);
  void cancel_all() noexcept;
  /// The policy on which all depend has failed: they end, and no further run begins.
  void policy_failed(const std::string& why) noexcept;
  [[nodiscard]] bool policy_is_out() const noexcept {
    return policy_out_.load(sync::memory_order_seq_cst);
  }

  // --- what a policy may not know ---
  [[nodiscard]] std::uint64_t ended() const noexcept {
    return ended_.load(sync::memory_order_acquire);
  }
  /// False if none that is active has such a task, as far as can be told, nor had one when so many
  /// runs had ended.
  [[nodiscard]] bool have(task_ref, std::uint64_t ended) noexcept;

  // --- the rest of a cancelled run ---
  /// The policy looks nowhere where it waits, so it is looked for the standard way.
  [[nodiscard]] bool clears_up() const noexcept {
    return clears_up_.load(sync::memory_order_relaxed);
  }
  [[nodiscard]] bool any_cancelled() const noexcept {
    return cancelled_.load(sync::memory_order_seq_cst) != 0;
  }
  /// True for the first who asks for that, until no cancelled run is left.
  [[nodiscard]] bool begin_to_clear_up() noexcept {
    return !clears_up_.exchange(true, sync::memory_order_seq_cst);
  }

 private:
  void check_admission() const;
  /// Under the lock. The engine's hold on it.
  [[nodiscard]] std::shared_ptr<execution_state> take_out(execution_state&) noexcept;

  sync::mutex lock_;
  sync::condition none_;
  std::vector<std::shared_ptr<execution_state>> active_;
  std::uint64_t submitted_ = 0;
  std::string policy_failure_;  // empty until policy_out_
  // Read without the lock.
  sync::atomic<bool> open_{false};
  sync::atomic<std::uint32_t> count_{0};
  sync::atomic<std::uint64_t> ended_{0};
  sync::atomic<bool> policy_out_{false};
  sync::atomic<bool> ever_cancelled_{false};
  sync::atomic<std::uint32_t> cancelled_{0};  // that are not done
  sync::atomic<bool> clears_up_{false};
};

}  // namespace kilter::inline v0::detail
