#pragma once
// Which of two ways of running a team is the better one, found by trying both in turn. Pure: who asks tells the time.

#include <cstdint>

namespace kilter::regions {

/// Which way brings more of some amount in the same time.
class trial {
 public:
  /// `long_enough_ns`: how long a way is tried. `clearly`: how many times as much the second way must bring. `second_first`: it is tried first.
  constexpr trial(std::int64_t long_enough_ns, double clearly, bool second_first) noexcept : long_enough_ns_(long_enough_ns), clearly_(clearly), second_(second_first) {}
  /// The way to use from now on.
  [[nodiscard]] constexpr bool second() const noexcept { return second_; }
  /// What comes from now on counts.
  constexpr void begin(std::int64_t amount, std::int64_t now_ns) noexcept {
    amount_ = amount;
    since_ns_ = now_ns;
  }
  /// What came since the begin or the look before counts for the way to use, and a new one may be chosen.
  constexpr void look(std::int64_t amount, std::int64_t now_ns) noexcept {
    way& used = ways_[second_];
    used.ns += now_ns - since_ns_;
    used.amount += amount - amount_;
    begin(amount, now_ns);
    if (used.ns < long_enough_ns_) return;
    const double rate = static_cast<double>(used.amount) / static_cast<double>(used.ns);
    used.rate = used.rate < 0.0 ? rate : 0.5 * (used.rate + rate);
    used.known_since_ns = now_ns;
    used.ns = used.amount = 0;
    const way& other = ways_[!second_];
    if (other.rate < 0.0 || now_ns - other.known_since_ns > known_for_ns) second_ = !second_;
    else second_ = ways_[true].rate > ways_[false].rate * clearly_;
  }

  static constexpr std::int64_t known_for_ns = 1'000'000'000;   // so the worse way is tried for a small part of the time

 private:
  struct way {
    double rate = -1.0;             // an amount a nanosecond; negative: not known
    std::int64_t ns = 0, amount = 0, known_since_ns = 0;
  };
  const std::int64_t long_enough_ns_;
  const double clearly_;
  way ways_[2];
  bool second_;
  std::int64_t since_ns_ = 0, amount_ = 0;
};

/// One thread for each CPU, or the program's own alone: with which a folded team comes further. For members that wait for one another all the time, as in ordered
/// loops with little work, where handing over to another CPU may cost more than the work.
class choice_of_team {
 public:
  /// Since the look before. `runs`: a folded team ran. `alone`: by one thread. `events`: what members may have waited for and has come, counted on and on.
  /// False: they do not wait so often, and each CPU should have a thread.
  constexpr bool look(bool runs, bool alone, std::uint32_t events, std::int64_t now_ns) noexcept {
    const std::uint32_t came = events - events_;
    const std::int64_t took_ns = now_ns - now_ns_;
    events_ = events;
    now_ns_ = now_ns;
    all_ += came;
    often_ = runs && std::int64_t{came} * 1'000'000 >= (alone ? seldom : much) * took_ns;
    // What came counts for the way that was in use. Alone also where little came, or an alone that is slow would never be known.
    if (runs && alone == trial_.second() && (alone || often_)) trial_.look(all_, now_ns);
    else trial_.begin(all_, now_ns);
    return often_;
  }
  [[nodiscard]] constexpr bool alone() const noexcept { return often_ && trial_.second(); }

  /// Events a millisecond. A sleep and a wake-up take 27 us (two CPUs of a virtual machine, futex; .05 us where nobody sleeps), so they would take a fifth of the time.
  static constexpr std::int64_t much = 8;
  /// Fewer, and the members have come to work that is not like that. A quarter, for alone may be slower than all.
  static constexpr std::int64_t seldom = 2;

 private:
  static constexpr std::int64_t some_slices_ns = 30'000'000;    // of the operating system
  trial trial_{some_slices_ns, 1.05, false};
  bool often_ = false;
  std::uint32_t events_ = 0;
  std::int64_t all_ = 0, now_ns_ = 0;
};

}  // namespace kilter::regions
