#pragma once
// Carries out moves by changing affinity masks, and knows which threads are not ours to move.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "balance/contract.hpp"
#include "balance/os/mask_ledger.hpp"
#include "balance/os/targets.hpp"

namespace kilter::balance::os {

/// Operating system's CPUs and Kilter's cores, both ways.
class core_map {
 public:
  explicit core_map(const machine&);
  [[nodiscard]] core_id core_of(int os_cpu) const noexcept;
  [[nodiscard]] int os_cpu(core_id) const noexcept;
  [[nodiscard]] std::uint32_t cores() const noexcept {
    return static_cast<std::uint32_t>(os_.size());
  }
  /// How many of the cores the mask allows.
  [[nodiscard]] std::uint32_t allowed(const host::cpu_mask&) const noexcept;

 private:
  std::vector<int> os_;
  std::vector<core_id> core_;
};

/// The mask that a thread had is its outer limit for good: no move leads out of it. A thread whose
/// mask somebody else changed, most likely itself, keeps it and is not moved any more. What a
/// cpuset does to masks is the kernel's doing and not the thread's.
class mover {
 public:
  /// `tell` gets one line, once a process, about threads that cannot be moved, with what would be
  /// needed.
  mover(mask_ledger&, const core_map&, std::function<void(const std::string&)> tell);

  /// Notes the mask of a thread that has just been found; `parent`: the process that made its
  /// process. One that was made by a thread that we had pinned, and so is pinned as well, gets the
  /// mask back that its program chose.
  void appeared(const watched_thread&, pid_t parent);
  void vanished(const watched_thread&);
  /// Looks whether all still have the masks that they were given, and gives masks back that are
  /// due.
  void check(std::span<watched_thread* const>);

  [[nodiscard]] bool movable(thread_id) const noexcept;
  /// The core that the thread is held on, no_core if it is not.
  [[nodiscard]] core_id given(thread_id) const noexcept;
  [[nodiscard]] bool holds_any() const noexcept { return held_ > 0; }
  /// By core: whether the thread's own mask has it. Empty: nothing is known of the thread. Valid
  /// until the next call that is not const.
  [[nodiscard]] std::span<const std::uint8_t> may_use(thread_id) const noexcept;

  /// Puts a thread on a core and holds it there until `give_back`.
  [[nodiscard]] bool hold_on(const watched_thread&, core_id);
  /// Puts a thread on a core. It has its own mask again as soon as it is there: at once if it runs,
  /// else at the next `check`.
  [[nodiscard]] bool put_on(const watched_thread&, core_id);
  /// Whether one of the two would be tried.
  [[nodiscard]] bool may_go(thread_id, core_id) const noexcept;
  /// The thread gets its own mask back, if it has one of ours.
  void give_back(const watched_thread&);

 private:
  struct entry {
    host::cpu_mask limit;  ///< its own mask within its cpuset: where it may go
    /// to be asked for when it is given back; all CPUs if it follows its cpuset
    host::cpu_mask original;
    mask_record* record = nullptr;
    bool left_alone = false;
    bool due = false;                   ///< held only until the next check
    std::vector<std::uint8_t> may_use;  ///< by core, of `limit`
    [[nodiscard]] bool held() const noexcept { return record && record->given >= 0; }
  };
  enum class cause : std::uint8_t { as_it_was, cpuset, own };
  [[nodiscard]] cause cause_of(entry&, pid_t tid, host::cpu_mask& now);
  void limit_to(entry&, const host::cpu_mask&);
  /// False: it is not to be moved. Else its entry is up to date.
  [[nodiscard]] bool ready(entry&, const watched_thread&);
  [[nodiscard]] bool pin(entry&, const watched_thread&, core_id);
  void unpin(entry&, const watched_thread&);
  /// It has a mask of its own from now on, and whoever descends from it inherits that.
  void leave_alone(entry&, const watched_thread&);
  void set_given(mask_record&, int cpu) noexcept;
  void explain(const watched_thread&, int error, const entry&);

  mask_ledger& ledger_;
  const core_map& cores_;
  std::function<void(const std::string&)> tell_;
  std::unordered_map<thread_id, entry> entries_;
  std::unordered_set<pid_t> explained_;
  std::size_t held_ = 0;
};

}  // namespace kilter::balance::os
