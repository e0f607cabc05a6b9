#pragma once
// The queues that a policy declares, all of them.

#include <memory>
#include <vector>

#include "kilter/policy.hpp"
#include "runtime/declared_queue.hpp"

namespace kilter::inline v0::detail {

class declared_queues {
 public:
  /// `first`: the number of the first of them, as the policy counts; before it come the deques that
  /// the policy has, too.
  declared_queues(const std::vector<queue_spec>& specs, std::uint32_t cores, queue_id first)
      : first_(first) {
    for (const queue_spec& q : specs) all_.push_back(std::make_unique<declared_queue>(q, cores));
  }

  [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
  [[nodiscard]] auto begin() const noexcept { return all_.begin(); }
  [[nodiscard]] auto end() const noexcept { return all_.end(); }
  /// Counted from the first of them.
  [[nodiscard]] declared_queue& operator[](queue_id i) const noexcept { return *all_[i]; }
  [[nodiscard]] queue_id first() const noexcept { return first_; }
  /// By the policy's number; null for a deque.
  [[nodiscard]] declared_queue* of(queue_id q) const noexcept {
    return all_.empty() || q < first_ ? nullptr : all_[q - first_].get();
  }
  /// Something waits that this core may take.
  [[nodiscard]] bool wait_for(core_id c) const noexcept {
    for (const auto& q : all_)
      if (q->size() > 0 && q->may_take(c)) return true;
    return false;
  }
  /// A new key for a task; no effect if it waits in none of them.
  void rekey(node* n, std::uint64_t key) {
    for (const auto& q : all_)
      if (q->rekey(n, key)) return;
  }

  /// The policy has answered hold_task: the order is its own, and nothing may overtake.
  void hold_for_tasks() noexcept {
    if (!held_for_tasks()) held_.store(true, sync::memory_order_relaxed);
  }
  [[nodiscard]] bool held_for_tasks() const noexcept {
    return held_.load(sync::memory_order_relaxed);
  }

 private:
  const queue_id first_;
  std::vector<std::unique_ptr<declared_queue>> all_;
  sync::atomic<bool> held_{false};
};

}  // namespace kilter::inline v0::detail
