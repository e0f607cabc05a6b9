#pragma once
// How workers sleep and how they are woken, as others see it. docs/inside/sleeping.md has the whole
// protocol.
//
// Whoever is about to sleep announces it, fences, and looks once more. Whoever leaves something for
// others writes it, fences, and looks who sleeps. One of the two sees the other, so nothing is left
// behind. The fence of the sleeper is the dear one (membarrier), so that the other is free; it
// belongs to the look (`wake`, `somebody_sleeps`), so that nobody can forget it.

#include "base/sync.hpp"

namespace kilter::inline v0::detail {

/// What the workers of one engine count together.
struct parking_counts {
  alignas(sync::cache_line) sync::atomic<std::uint32_t> sleepers{0};
  alignas(sync::cache_line) sync::atomic<std::uint32_t> searchers{0};
  alignas(sync::cache_line) sync::atomic<bool> stopping{false};

  /// those that sleep, or are about to, until something has ended
  alignas(sync::cache_line) sync::atomic<std::uint32_t> helpers{0};

  /// Held around such a sleep; what is waited for is looked at once more within.
  class helper_sleeps {
   public:
    explicit helper_sleeps(parking_counts& all) noexcept : all_(all) {
      all_.helpers.fetch_add(1, sync::memory_order_seq_cst);
    }
    ~helper_sleeps() { all_.helpers.fetch_sub(1, sync::memory_order_seq_cst); }
    helper_sleeps(const helper_sleeps&) = delete;
    helper_sleeps& operator=(const helper_sleeps&) = delete;

   private:
    parking_counts& all_;
  };
  /// Called after it ended.
  [[nodiscard]] bool a_helper_sleeps() const noexcept {
    sync::light_fence();
    return helpers.load(sync::memory_order_relaxed) != 0;
  }
  /// Each of the workers sees it before it sleeps, or is woken.
  template <class Workers>
  void stop(const Workers& workers) noexcept {
    stopping.store(true, sync::memory_order_release);
    for (const auto& w : workers) w->wake();
  }
  /// For what only some may take. Called after it was written.
  [[nodiscard]] bool somebody_sleeps() const noexcept {
    sync::light_fence();
    return sleepers.load(sync::memory_order_relaxed) != 0;
  }
  /// For what anybody may take: while one worker looks for work nobody else is woken. Called after
  /// it was written.
  [[nodiscard]] bool somebody_is_needed() const noexcept {
    return somebody_sleeps() && searchers.load(sync::memory_order_relaxed) == 0;
  }
};

/// Wakes one of those that `may`, other than `self` (may be null); false if there is none. One that
/// `comes_late` is woken if there is no other. `self` has perhaps announced its sleep and looks
/// once more: that makes it a sleeper too, which must not be woken instead of another.
template <class Workers, class Worker, class May, class ComesLate>
bool wake_one(const Workers& workers, const Worker* self, May&& may, ComesLate&& comes_late) {
  bool left_out = false;
  for (const auto& w : workers) {
    if (&*w == self || !may(*w)) continue;
    if (comes_late(*w))
      left_out = true;
    else if (w->wake())
      return true;
  }
  if (left_out)
    for (const auto& w : workers)
      if (&*w != self && may(*w) && w->wake()) return true;
  return false;
}

/// One worker's.
class parking {
 public:
  explicit parking(parking_counts& all) noexcept : all_(all) {}

  // --- its owner's ---
  void search_begins() noexcept {
    mode_.store(mode::searching, sync::memory_order_relaxed);
    all_.searchers.fetch_add(1, sync::memory_order_seq_cst);
  }
  /// It has found something. True if others sleep: while it searched nobody was woken for what it
  /// leaves.
  [[nodiscard]] bool search_ends() noexcept {
    mode_.store(mode::running, sync::memory_order_relaxed);
    all_.searchers.fetch_sub(1, sync::memory_order_seq_cst);
    sync::fence();
    if (comes_.load(sync::memory_order_relaxed)) {
      comes_.store(false, sync::memory_order_release);
      sync::fence();
    }
    return all_.sleepers.load(sync::memory_order_relaxed) != 0;
  }
  /// From here on others wake it, and what they wrote before they looked at it is seen. `searched`:
  /// it comes from a search, which ends. Returns what `sleep` needs.
  [[nodiscard]] std::uint32_t announce(bool searched) noexcept {
    if (searched) all_.searchers.fetch_sub(1, sync::memory_order_seq_cst);
    const std::uint32_t ticket = ticket_.load(sync::memory_order_acquire);
    mode_.store(mode::sleeping, sync::memory_order_seq_cst);
    all_.sleepers.fetch_add(1, sync::memory_order_seq_cst);
    sync::heavy_fence();
    return ticket;
  }
  /// At most `timeout_ns` (negative: without limit); not at all if it was woken since `announce`.
  void sleep(std::uint32_t ticket, std::int64_t timeout_ns) noexcept {
    sync::park(ticket_, ticket, timeout_ns);
  }
  /// Whether it slept or not. True: nobody has woken it.
  bool get_up() noexcept {
    mode asleep = mode::sleeping;
    const bool by_itself =
        mode_.compare_exchange_strong(asleep, mode::running, sync::memory_order_seq_cst);
    if (by_itself) all_.sleepers.fetch_sub(1, sync::memory_order_seq_cst);
    return by_itself;
  }

  // --- anybody's ---
  [[nodiscard]] bool searches() const noexcept {
    return mode_.load(sync::memory_order_relaxed) == mode::searching;
  }
  [[nodiscard]] bool idle() const noexcept {
    return mode_.load(sync::memory_order_relaxed) != mode::running;
  }
  /// Wakes it if it sleeps; returns whether it did. Called after what it is woken for was written.
  bool wake() noexcept {
    sync::light_fence();
    if (mode_.load(sync::memory_order_relaxed) != mode::sleeping) return false;
    mode asleep = mode::sleeping;
    if (!mode_.compare_exchange_strong(asleep, mode::running, sync::memory_order_seq_cst))
      return false;
    all_.sleepers.fetch_sub(1, sync::memory_order_seq_cst);
    ticket_.fetch_add(1, sync::memory_order_release);
    sync::unpark(ticket_, 1);
    return true;
  }

  /// It is to come for something that others leave to it as long as it comes.
  void expect() noexcept { comes_.store(true, sync::memory_order_release); }
  [[nodiscard]] bool comes() const noexcept { return comes_.load(sync::memory_order_acquire); }
  /// After `expect` and a full fence. False if it does not come: it is at work, so others must be
  /// woken.
  bool call() noexcept {
    if (wake() || idle()) return true;
    // If it begins to search later, it has said itself that it does not come.
    comes_.store(false, sync::memory_order_release);
    return false;
  }

 private:
  enum class mode : std::uint32_t { running, searching, sleeping };  // as others see it

  parking_counts& all_;
  sync::atomic<mode> mode_{mode::running};
  sync::atomic<std::uint32_t> ticket_{0};  // futex word: changes when the worker is woken
  sync::atomic<bool> comes_{false};
};

}  // namespace kilter::inline v0::detail
