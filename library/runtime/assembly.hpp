#pragma once
// A wide task while its members work on it, and the queues in which the members meet it.
//
// Two rules keep wide tasks free of deadlock and of waiting for the absent:
//   Order. The entries of one task go into the queues of all its members under the one lock of
//   their cluster. So if two tasks share two members, both members see them in the same order, and
//   no two can each wait inside the one that the other has yet to reach. Completion. A chunked task
//   is complete when its chunks are handed out and nobody is inside. A member that comes later
//   finds it closed and goes on. Only tasks that declared `all_members` wait for each member.

#include <algorithm>
#include <memory>
#include <vector>

#include "base/spin_lock.hpp"
#include "base/sync.hpp"
#include "kilter/ids.hpp"
#include "kilter/task.hpp"

namespace kilter::inline v0::detail {

struct node;
struct execution_state;
class shared_loop;

/// When one member was inside, in cycles.
struct member_span {
  std::uint64_t start = 0, end = 0;
  std::uint32_t chunks = 0;
  bool came = false;
};

class assembly {
 public:
  void set_up(node* n, execution_state* e, place_id id, place p, bool all_members, bool stolen);

  node* task = nullptr;
  execution_state* execution = nullptr;
  place_id where = 0;
  place at{};
  bool all_members = false, stolen = false;
  std::vector<member_span> members;  ///< one writer each; read by whoever finishes

  /// False if the task is already closed: the member must not touch it again, but for drop().
  bool enter() noexcept;
  /// True for exactly one member: the one that must finish the task.
  bool leave() noexcept;
  /// True for the last holder, who gives the object back.
  bool drop() noexcept { return holders_.fetch_sub(1, sync::memory_order_acq_rel) == 1; }
  /// True for the first member in.
  bool first_in(std::uint32_t member) noexcept {
    std::uint32_t none = ~0u;
    return first_.compare_exchange_strong(none, member, sync::memory_order_acq_rel);
  }
  [[nodiscard]] bool leader_was_first() const noexcept {
    return first_.load(sync::memory_order_acquire) == 0;
  }

  /// What the first to ask next_chunk named; a member that means another total must not go on.
  std::size_t agree_on(std::size_t total) noexcept;
  /// [begin, end) of the next piece of 0 .. total-1; empty when all is handed out, or if the total
  /// is not the one agreed on.
  chunk next_chunk(std::size_t total, std::size_t grain) noexcept;
  /// Nothing more is handed out: a member threw, or the graph was cancelled.
  void exhaust() noexcept { exhausted_.store(true, sync::memory_order_release); }

  /// All members meet. False if `broken` became true meanwhile.
  template <class Broken>
  bool barrier(Broken&& broken) noexcept {
    const std::uint32_t turn = turn_.load(sync::memory_order_acquire);
    if (arrived_.fetch_add(1, sync::memory_order_acq_rel) + 1 == at.width) {
      arrived_.store(0, sync::memory_order_relaxed);
      turn_.store(turn + 1, sync::memory_order_release);
      return true;
    }
    for (int spins = 0; turn_.load(sync::memory_order_acquire) == turn;) {
      if (broken()) return false;
      if (++spins < 2000)
        sync::relax();
      else
        sync::yield();
    }
    return true;
  }

 private:
  static constexpr std::uint32_t closed = 1u << 31;
  static constexpr std::size_t no_total = ~std::size_t{0};
  alignas(sync::cache_line) sync::atomic<std::uint32_t> inside_{0};
  sync::atomic<std::uint32_t> left_{0};
  sync::atomic<std::uint32_t> holders_{0};
  sync::atomic<std::uint32_t> first_{0};
  sync::atomic<std::uint32_t> arrived_{0};
  sync::atomic<std::uint32_t> turn_{0};
  sync::atomic<bool> exhausted_{false};
  sync::atomic<std::size_t> total_{no_total};
  alignas(sync::cache_line) sync::atomic<std::size_t> cursor_{0};
};

/// One entry of an assembly queue.
struct assembly_entry {
  enum class kind : std::uint8_t {
    run,     ///< a width-1 task bound to this worker
    join,    ///< this worker is a member
    finish,  ///< a stand-in was the last member out; this worker finishes the task
    loop,    ///< a loop to which this worker is invited
  };
  kind what = kind::run;
  node* task = nullptr;
  assembly* wide = nullptr;
  shared_loop* loop = nullptr;
};

/// FIFO of what is bound to one worker. The emptiness test is one load of the owner's line.
class assembly_queue {
 public:
  /// bad_alloc if there is no room for one more; then nothing has changed.
  void push(const assembly_entry& e) {
    const sync::lock_guard hold(lock_);
    make_room();
    slots_[(first_ + count_++) & (slots_.size() - 1)] = e;
    tell();
  }
  /// Room for one entry, whatever others push meanwhile: used by one of the three below. bad_alloc
  /// if there is none.
  void reserve() {
    const sync::lock_guard hold(lock_);
    make_room();
    ++reserved_;
  }
  void unreserve() noexcept {
    const sync::lock_guard hold(lock_);
    --reserved_;
  }
  void push_reserved(const assembly_entry& e) noexcept {
    const sync::lock_guard hold(lock_);
    --reserved_;
    slots_[(first_ + count_++) & (slots_.size() - 1)] = e;
    tell();
  }
  /// Before all others: what must not wait behind work.
  void push_front_reserved(const assembly_entry& e) noexcept {
    const sync::lock_guard hold(lock_);
    --reserved_;
    ++count_;
    first_ = (first_ - 1) & (slots_.size() - 1);
    slots_[first_] = e;
    tell();
  }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  [[nodiscard]] std::uint32_t size() const noexcept {
    return size_.load(sync::memory_order_acquire);
  }
  /// The first, unless there is none or it is one that `must_wait`.
  template <class MustWait>
  bool pop_unless(MustWait&& must_wait, assembly_entry& e) noexcept {
    const sync::lock_guard hold(lock_);
    if (count_ == 0 || must_wait(slots_[first_])) return false;
    e = slots_[first_];
    first_ = (first_ + 1) & (slots_.size() - 1);
    --count_;
    tell();
    return true;
  }

 private:
  void tell() noexcept {
    size_.store(static_cast<std::uint32_t>(count_), sync::memory_order_release);
  }
  void make_room() {
    if (count_ + reserved_ < slots_.size()) return;
    std::vector<assembly_entry> bigger(std::max<std::size_t>(16, 2 * slots_.size()));
    for (std::size_t i = 0; i < count_; ++i) bigger[i] = slots_[(first_ + i) & (slots_.size() - 1)];
    slots_ = std::move(bigger);
    first_ = 0;
  }

  sync::spin_lock lock_;
  std::vector<assembly_entry> slots_;  // a ring; its length is a power of two
  std::size_t first_ = 0, count_ = 0, reserved_ = 0;
  alignas(sync::cache_line) sync::atomic<std::uint32_t> size_{0};
};

/// Where the tasks of one cluster that run on several cores are handed to their members.
class cluster_desk {
 public:
  /// `enter(a)` sets an assembly up and puts it into the queues of its members; under one lock, so
  /// that all members meet their tasks in the same order. What it throws comes out of here, and so
  /// does bad_alloc; then no member may have it.
  template <class Enter>
  void hand_out(Enter&& enter) {
    const sync::lock_guard hold(lock_);
    assembly* const a = unused();
    try {
      enter(*a);
    } catch (...) {
      free_.push_back(a);
      throw;
    }
  }
  /// By the last who held it.
  void take_back(assembly& a) noexcept {
    const sync::lock_guard hold(lock_);
    free_.push_back(&a);
  }

 private:
  assembly* unused();

  sync::spin_lock lock_;
  std::vector<std::unique_ptr<assembly>> all_;
  std::vector<assembly*> free_;  // has room for all
};

}  // namespace kilter::inline v0::detail
