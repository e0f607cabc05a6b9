#pragma once
// How one worker looks for work, comes to rest and gets up again, as its own thread sees it;
// parking.hpp is what others see of that. docs/inside/sleeping.md has the states, the steps, and
// why no wake-up is lost.

#include <cstdint>
#include <utility>

#include "runtime/parking.hpp"

namespace kilter::inline v0::detail {

/// How long a worker looks for work before it sleeps: looking costs a co-runner its time, sleeping
/// costs the next task a wake-up of several microseconds. The longer one where that would have
/// saved the last sleep.
inline constexpr double spin_s = 50e-6, long_spin_s = 200e-6;
/// Between two rounds of looking: long enough to leave the victims' cache lines alone, short
/// against any task worth stealing.
inline constexpr int pauses_between_rounds = 16;
/// One of those that sleep looks so soon who is held up, and then less and less often. A slice of
/// the operating system is longer.
inline constexpr std::int64_t worth_a_look_ns = 1'000'000;

class sleeping {
 public:
  explicit sleeping(parking& me) noexcept : me_(me) {}

  // --- a look for work ---
  /// What the look before said about rest is forgotten.
  void look_begins() noexcept {
    may_rest_ = true;
    rest_ns_ = -1;
  }
  /// The look goes on where it may take a while: from here on the worker counts as looking, and
  /// nobody else is woken for what any worker may take. Not after it has announced its sleep: then
  /// it stays a sleeper, so that each push wakes it.
  void search_begins() noexcept {
    if (searching_ || announced_) return;
    searching_ = true;
    me_.search_begins();
  }
  [[nodiscard]] bool searches() const noexcept { return searching_; }
  /// It has found something, or turns to something else. Others who sleep may have missed what it
  /// leaves: `wake(woken)` is called if there are any, where `woken` says that it was itself woken,
  /// perhaps for something else than what it found.
  template <class Wake>
  void search_ends(Wake&& wake) noexcept {
    attempt_ = 0;
    if (!searching_) return;
    searching_ = false;
    const bool others_sleep = me_.search_ends();
    const bool woken = std::exchange(woken_, false);
    if (others_sleep) wake(woken);
  }
  /// Counts the attempts at question 3 from 0, anew after a find and after a sleep.
  [[nodiscard]] std::uint32_t next_attempt() noexcept { return attempt_++; }

  // --- what the look says about rest ---
  /// No: there is something to try again at once.
  void may_rest(bool yes) noexcept { may_rest_ = yes; }
  [[nodiscard]] bool may_rest() const noexcept { return may_rest_; }
  /// For how long the policy holds; negative: it does not.
  void rest_for(std::int64_t ns) noexcept { rest_ns_ = ns; }
  [[nodiscard]] std::int64_t rest_ns() const noexcept { return rest_ns_; }

  // --- the sleep ---
  /// Announces the sleep, looks once more, and sleeps until woken, at most `timeout_ns` (negative:
  /// without limit). `finds(at_most_ns)` is that last look: true if there is a reason to stay up;
  /// it may shorten the time. Returns whether the worker slept.
  template <class Finds>
  bool sleep(std::int64_t timeout_ns, Finds&& finds) {
    attempt_ = 0;
    ended_search_ = searching_;
    const std::uint32_t ticket = me_.announce(std::exchange(searching_, false));
    announced_ = true;
    const bool stays_up = finds(timeout_ns);
    announced_ = false;
    if (!stays_up) me_.sleep(ticket, timeout_ns);
    nobody_came_ = me_.get_up() && !stays_up;
    attempt_ = 0;
    return !stays_up;
  }
  /// For that last look: what was left during the search that the announcement ended, nobody else
  /// was woken for. A worker that may not take it stays up, and ends a search as if it had found
  /// something.
  [[nodiscard]] bool ended_search() const noexcept { return ended_search_; }
  /// The sleep ended by itself.
  [[nodiscard]] bool nobody_came() const noexcept { return nobody_came_; }
  /// After a sleep: it may have been woken for something, and looks for it.
  void comes_back() noexcept {
    woken_ = true;
    search_begins();
  }

 private:
  parking& me_;
  std::int64_t rest_ns_ = -1;
  std::uint32_t attempt_ = 0;
  bool searching_ = false;
  bool announced_ = false;
  bool ended_search_ = false;
  bool woken_ = false;  // and has found nothing since
  bool may_rest_ = true;
  bool nobody_came_ = false;
};

}  // namespace kilter::inline v0::detail
