#pragma once
// A queue that a policy declares instead of the standard deques. Behind a lock: such policies pay
// for their order.

#include <iterator>
#include <map>
#include <unordered_map>

#include "base/spin_lock.hpp"
#include "base/sync.hpp"
#include "kilter/policy.hpp"

namespace kilter::inline v0::detail {

struct node;

class declared_queue {
 public:
  declared_queue(const queue_spec& spec, std::uint32_t cores)
      : order_(spec.order), owner_(spec.owner), may_take_(cores, spec.takers.empty()) {
    for (const core_id c : spec.takers)
      if (c < cores) may_take_[c] = true;
  }

  [[nodiscard]] core_id owner() const noexcept { return owner_; }
  [[nodiscard]] bool may_take(core_id c) const noexcept { return may_take_[c]; }
  [[nodiscard]] std::uint32_t size() const noexcept {
    return size_.load(sync::memory_order_acquire);
  }

  /// bad_alloc if there is no memory; then nothing has changed.
  void push(node* n, std::uint64_t key) {
    const sync::lock_guard hold(lock_);
    const std::uint64_t place_in_line = order_ == queue_order::lifo ? ~arrivals_ : arrivals_;
    ++arrivals_;
    const auto at =
        waiting_.emplace(rank{order_ == queue_order::by_key ? ~key : 0, place_in_line}, n).first;
    try {
      where_.emplace(n, at);
    } catch (...) {
      waiting_.erase(at);
      throw;
    }
    size_.store(static_cast<std::uint32_t>(waiting_.size()), sync::memory_order_release);
  }

  /// The first in order after `skip` others and its key, or null. O(skip).
  node* pop(std::uint64_t& key, std::uint32_t skip = 0) {
    if (size() <= skip) return nullptr;
    const sync::lock_guard hold(lock_);
    if (waiting_.size() <= skip) return nullptr;
    const auto at = std::next(waiting_.begin(), skip);
    key = ~at->first.first;
    return remove(at);
  }

  /// That task, if it waits here.
  node* extract(node* n) {
    if (size() == 0) return nullptr;
    const sync::lock_guard hold(lock_);
    const auto found = where_.find(n);
    return found == where_.end() ? nullptr : remove(found->second);
  }

  /// A new key for a task that waits here; it keeps its age among equals. Returns whether it
  /// waited.
  bool rekey(node* n, std::uint64_t key) {
    if (order_ != queue_order::by_key || size() == 0) return false;
    const sync::lock_guard hold(lock_);
    const auto found = where_.find(n);
    if (found == where_.end()) return false;
    auto record = waiting_.extract(found->second);
    record.key().first = ~key;
    found->second = waiting_.insert(std::move(record)).position;
    return true;
  }

 private:
  // inverted key, then position in line: the smallest goes first
  using rank = std::pair<std::uint64_t, std::uint64_t>;

  node* remove(std::map<rank, node*>::iterator at) {
    node* n = at->second;
    where_.erase(n);
    waiting_.erase(at);
    size_.store(static_cast<std::uint32_t>(waiting_.size()), sync::memory_order_release);
    return n;
  }

  queue_order order_;
  core_id owner_;
  std::vector<bool> may_take_;
  sync::spin_lock lock_;
  std::map<rank, node*> waiting_;
  std::unordered_map<node*, std::map<rank, node*>::iterator> where_;
  std::uint64_t arrivals_ = 0;
  sync::atomic<std::uint32_t> size_{0};
};

}  // namespace kilter::inline v0::detail
