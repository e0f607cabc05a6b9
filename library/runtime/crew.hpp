#pragma once
// The workers of one engine, and which of them is woken for what. docs/inside/sleeping.md has the
// protocol.

#include <memory>
#include <vector>

#include "kilter/ids.hpp"
#include "runtime/parking.hpp"

namespace kilter::inline v0::detail {

class declared_queue;
class engine;
class worker;

class crew {
 public:
  explicit crew(engine& of) noexcept : of_(of) {}
  ~crew();
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;

  /// Once: one for each core of the engine's machine.
  void hire();
  [[nodiscard]] const std::unique_ptr<worker>& operator[](core_id c) const noexcept {
    return all_[c];
  }
  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
  [[nodiscard]] auto begin() const noexcept { return all_.begin(); }
  [[nodiscard]] auto end() const noexcept { return all_.end(); }

  // --- how they sleep ---
  /// What they count together.
  [[nodiscard]] parking_counts& parked() noexcept { return parked_; }
  [[nodiscard]] bool stopping() const noexcept {
    return parked_.stopping.load(sync::memory_order_acquire);
  }
  /// Before their threads start.
  void go_on() noexcept { parked_.stopping.store(false, sync::memory_order_release); }
  /// Each of them sees it before it sleeps, or is woken.
  void stop() noexcept;
  /// All that there are, or are about to.
  [[nodiscard]] bool all_sleep() const noexcept {
    return parked_.sleepers.load(sync::memory_order_seq_cst) >= all_.size();
  }

  // --- who is woken ---
  /// Somebody pushed work that any worker may take: wakes one unless somebody is already looking.
  void notify_any() noexcept;
  /// Wakes one sleeping worker that may take from that queue.
  void notify_takers(const declared_queue&) noexcept;
  /// All of them but the caller: for a task that the caller does not want.
  void notify_other_takers(const declared_queue&) noexcept;
  void notify_all() noexcept;
  /// Something has ended that workers may wait for.
  void notify_helpers() noexcept {
    if (parked_.a_helper_sleeps()) notify_all();
  }
  /// For a worker that stops searching: while it did, nobody else was woken for what any worker may
  /// take. `queues_too`: it was itself woken, perhaps for a task in one of the queues, and may have
  /// found another.
  void wake_for_what_waits(bool queues_too) noexcept;

  // --- deep waits: wait_depth.hpp ---
  /// Those that keep what becomes ready on them.
  [[nodiscard]] bool any_deep() const noexcept {
    return deep_.load(sync::memory_order_relaxed) != 0;
  }
  void one_is_deep() noexcept { deep_.fetch_add(1, sync::memory_order_seq_cst); }
  void one_is_deep_no_more() noexcept { deep_.fetch_sub(1, sync::memory_order_relaxed); }

 private:
  /// Wakes one sleeper of those that `may`, other than the caller; false if there is none.
  template <class May>
  bool wake_one(May may) noexcept;

  engine& of_;
  std::vector<std::unique_ptr<worker>> all_;
  parking_counts parked_;
  alignas(sync::cache_line) sync::atomic<std::uint32_t> deep_{0};
};

}  // namespace kilter::inline v0::detail
