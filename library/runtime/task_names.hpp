#pragma once
// What the tasks that a policy keeps as words are called on its tape, also when they are gone.

#include <cstdint>
#include <unordered_map>

#include "base/sync.hpp"
#include "kilter/task_ref.hpp"

namespace kilter::inline v0::detail {

/// Of one engine, while decisions are recorded. A policy may answer with a task whose run has ended
/// meanwhile, and whose memory nobody may read any more.
class task_names {
 public:
  /// Of a task that is there: what `of` says from here on.
  void keep(task_ref t, std::uint64_t name) {
    const sync::lock_guard hold(lock_);
    names_.insert_or_assign(t.handle, name);
  }
  /// The handle of one that was never kept, as of none.
  [[nodiscard]] std::uint64_t of(task_ref t) {
    const sync::lock_guard hold(lock_);
    const auto at = names_.find(t.handle);
    return at == names_.end() ? t.handle : at->second;
  }

 private:
  sync::mutex lock_;
  std::unordered_map<std::uintptr_t, std::uint64_t> names_;
};

}  // namespace kilter::inline v0::detail
