#pragma once
// Which of two ways of running a team is the better one, found by trying both in turn. Pure: who
// asks tells the time.

#include <algorithm>
#include <cstdint>

namespace kilter::regions {

/// Which way brings more of some amount in the same time.
class trial {
 public:
  /// `long_enough_ns`: how long a way is tried. `clearly`: how many times as much the second way
  /// must bring. `second_first`: it is tried first. What lost is tried again after a second; each
  /// time that it loses again, after twice as long, up to `longest_known_ns`.
  constexpr trial(std::int64_t long_enough_ns, double clearly, bool second_first,
                  std::int64_t longest_known_ns = known_for_ns) noexcept
      : long_enough_ns_(long_enough_ns),
        longest_known_ns_(longest_known_ns),
        clearly_(clearly),
        second_(second_first) {}
  /// The way to use from now on.
  [[nodiscard]] constexpr bool second() const noexcept { return second_; }
  /// What comes from now on counts.
  constexpr void begin(std::int64_t amount, std::int64_t now_ns) noexcept {
    amount_ = amount;
    since_ns_ = now_ns;
  }
  /// What came since the begin or the look before counts for the way to use, and a new one may be
  /// chosen.
  constexpr void look(std::int64_t amount, std::int64_t now_ns) noexcept {
    way& used = ways_[second_];
    used.ns += now_ns - since_ns_;
    used.amount += amount - amount_;
    begin(amount, now_ns);
    const way& other = ways_[!second_];
    const double rate =
        used.ns > 0 ? static_cast<double>(used.amount) / static_cast<double>(used.ns) : 0.0;
    const bool hopeless =
        other.rate >= 0.0 && used.ns >= long_enough_ns_ / 2 && 2.0 * rate < other.rate;
    if (used.ns < long_enough_ns_ && !hopeless) return;
    used.rate = used.rate < 0.0 ? rate : 0.5 * (used.rate + rate);
    used.known_since_ns = now_ns;
    used.ns = used.amount = 0;
    if (other.rate < 0.0 || now_ns - other.known_since_ns > for_ns_) {
      second_ = !second_;
      return;
    }
    const bool won = ways_[true].rate > ways_[false].rate * clearly_;
    if (won != second_)
      for_ns_ = won == winner_ ? std::min(2 * for_ns_, longest_known_ns_) : known_for_ns;
    winner_ = second_ = won;
  }

  // so the worse way is tried for a small part of the time
  static constexpr std::int64_t known_for_ns = 1'000'000'000;

 private:
  struct way {
    double rate = -1.0;  // an amount a nanosecond; negative: not known
    std::int64_t ns = 0, amount = 0, known_since_ns = 0;
  };
  std::int64_t long_enough_ns_, longest_known_ns_, for_ns_ = known_for_ns;
  double clearly_;
  way ways_[2];
  bool second_, winner_ = second_;
  std::int64_t since_ns_ = 0, amount_ = 0;
};

/// The guard of a region: it runs in one of two ways, and stays with the one in which its
/// executions took less time. Both are tried when it is new, and again after the machine has
/// changed. What lost is tried again after a second, in case that the region itself has changed,
/// and then after twice as long each time.
class choice_of_way {
 public:
  /// Whether the next execution is to be timed; `machine`: counted up when anything else holds.
  constexpr bool measures(std::uint32_t machine, std::int64_t now_ns) noexcept {
    if (machine != machine_) {
      *this = {};
      machine_ = machine;
    }
    if (decided_ && now_ns > again_ns_) {
      decided_ = false;
      mean_ns_[!second_] = -1.0;
      block_ = {};
    }
    return !decided_;
  }
  /// Of which way the next execution should be.
  [[nodiscard]] constexpr bool second() const noexcept { return second_; }
  /// One execution that was to be timed, in the way that second() told. `risky`: the other way may
  /// be any number of times slower, and nothing says that it is quicker.
  constexpr void ran(std::int64_t took_ns, std::int64_t now_ns, bool risky = false) noexcept {
    if (!block_.warm && took_ns < enough_ns) {  // caches and threads are those of the other way
      block_.warm = true;
      return;
    }
    ++block_.times;
    block_.ns += took_ns;
    const double mean = static_cast<double>(block_.ns) / static_cast<double>(block_.times),
                 other = mean_ns_[!second_];
    const bool hopeless = other >= 0.0 && block_.times >= 2 && mean > hopeless_times * other;
    if (block_.ns < enough_ns && !hopeless) return;
    mean_ns_[second_] = mean;
    block_ = {};
    // an execution cannot be given up in the middle
    if (other < 0.0 && !second_ && risky && mean > longest_risk_ns) {
      decided_ = true;
      again_ns_ = now_ns + longest_ns;
      return;
    }
    if (other < 0.0) {
      second_ = !second_;
      return;
    }
    const bool won = mean_ns_[true] < mean_ns_[false];
    for_ns_ = won == winner_ && was_decided_ ? std::min(2 * for_ns_, longest_ns) : first_ns;
    winner_ = second_ = won;
    decided_ = was_decided_ = true;
    again_ns_ = now_ns + for_ns_;
  }

  // some slices of the operating system
  static constexpr std::int64_t enough_ns = 20'000'000;
  // libomp was seen to take 150 times as long for an ordered loop, beside others
  static constexpr std::int64_t longest_risk_ns = 2'000'000;
  static constexpr std::int64_t first_ns = 1'000'000'000, longest_ns = 64'000'000'000;

 private:
  static constexpr double hopeless_times = 1.5;
  struct block {
    std::int64_t ns = 0, times = 0;
    bool warm = false;
  };
  block block_;
  double mean_ns_[2] = {-1.0, -1.0};
  bool second_ = false, winner_ = false, decided_ = false, was_decided_ = false;
  std::uint32_t machine_ = 0;
  std::int64_t again_ns_ = 0, for_ns_ = first_ns;
};

/// What folded teams have done, counted on and on.
struct folded_work {
  std::int64_t ns = 0;       ///< for which they have run
  std::uint32_t events = 0;  ///< what members may have waited for and has come
  /// what these events take in the mean of their region's executions
  std::int64_t usual_ns = 0;
};

/// One thread for each CPU, or the program's own alone: with which a folded team comes further. In
/// ordered loops with little work handing over to another CPU may cost more than the work, and a
/// CPU of which a neighbour in a session of its own has two thirds may hold up more than it brings.
class choice_of_team {
 public:
  /// `alone`: one thread ran them since the look before. What the program does between its teams
  /// says nothing. False: members do not wait so often, and each CPU should have a thread.
  constexpr bool look(bool alone, const folded_work& now) noexcept {
    const std::int64_t took_ns = now.ns - before_.ns;
    const std::uint32_t events = now.events - before_.events;
    if (took_ns < (events < few ? says_all_ns : says_something_ns)) return often_;
    const double came = static_cast<double>(events) * 1e6;
    often_ = came >= (alone ? much / alone_may_be_slower : much) * static_cast<double>(took_ns);
    counts_ = came >= (alone ? some / alone_may_be_slower : some) * static_cast<double>(took_ns);
    before_ = now;
    // What came counts for the way that was in use. Alone also where little came, or an alone that
    // is slow would never be known. It counts as what it usually takes, for one time the program
    // may be where its regions are long, and the other where they are short.
    if (alone == trial_.second() && (alone || counts_))
      trial_.look(now.usual_ns, now.ns);
    else
      trial_.begin(now.usual_ns, now.ns);
    return often_;
  }
  [[nodiscard]] constexpr bool alone() const noexcept { return counts_ && trial_.second(); }

  /// Events a millisecond. So many that their number in a trial says how far the members came.
  static constexpr double some = 0.5;
  /// A sleep and a wake-up take 27 us (two CPUs of a virtual machine, futex; .05 us where nobody
  /// sleeps), so they would take a fifth of the time.
  static constexpr double much = 8.0;
  static constexpr double alone_may_be_slower = 4.0;

 private:
  static constexpr std::uint32_t few = 4;
  // of more than a few events, and of those
  static constexpr std::int64_t says_something_ns = 500'000, says_all_ns = 10'000'000;
  static constexpr std::int64_t some_slices_ns = 60'000'000;  // of the operating system
  trial trial_{some_slices_ns, 1.05, false};
  bool often_ = false, counts_ = false;
  folded_work before_;
};

}  // namespace kilter::regions
