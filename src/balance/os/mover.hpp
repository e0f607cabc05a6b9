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
  [[nodiscard]] std::uint32_t cores() const noexcept { return static_cast<std::uint32_t>(os_.size()); }
  /// How many of the cores the mask allows.
  [[nodiscard]] std::uint32_t allowed(const cpu_mask&) const noexcept;

 private:
  std::vector<int> os_;
  std::vector<core_id> core_;
};

/// The mask that a thread had is its outer limit for good: no move leads out of it. A thread whose mask somebody else changed, most likely itself, keeps it
/// and is not moved any more.
class mover {
 public:
  /// `tell` gets one line, once a process, about threads that cannot be moved, with what would be needed.
  mover(mask_ledger&, const core_map&, std::function<void(const std::string&)> tell);

  /// Notes the mask of a thread that has just been found; `parent`: the process that made its process.
  void appeared(const watched_thread&, pid_t parent);
  void vanished(const watched_thread&);
  /// Looks whether all still have the masks that they were given.
  void check(std::span<watched_thread* const>);

  [[nodiscard]] bool movable(thread_id) const noexcept;
  /// Where the thread was put, no_core if it was not.
  [[nodiscard]] core_id given(thread_id) const noexcept;

  /// Moves a thread. False: it may not, cannot or is gone.
  [[nodiscard]] bool move_to(const watched_thread&, core_id);
  /// Whether `move_to` would be tried.
  [[nodiscard]] bool may_go(thread_id, core_id) const noexcept;

 private:
  struct entry {
    cpu_mask original;
    mask_record* record = nullptr;
    bool left_alone = false;
  };
  [[nodiscard]] bool still_as_given(entry&, const cpu_mask& now);
  /// It has a mask of its own from now on, and whoever descends from it inherits that.
  void leave_alone(entry&, const watched_thread&);
  void explain(const watched_thread&, int error);

  mask_ledger& ledger_;
  const core_map& cores_;
  std::function<void(const std::string&)> tell_;
  std::unordered_map<thread_id, entry> entries_;
  std::unordered_set<pid_t> explained_;
};

}  // namespace kilter::balance::os
