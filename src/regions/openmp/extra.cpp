#include "regions/openmp/extra.hpp"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "regions/openmp/folded.hpp"
#include "regions/openmp/hands.hpp"

namespace kilter::regions {

namespace {

constexpr std::int64_t look_every_ns = 2'000'000;
/// Members that work for so long between two waits are worth a thread each: it costs some switches of the operating system, and those are slices of milliseconds then.
constexpr std::int64_t long_ns = 1'000'000;
constexpr std::uint32_t looks_without = 50;   // regions, after which nobody looks until the next one
constexpr std::uint32_t looks_in_vain = 5;    // at threads that are all in the middle of something, after which members that have none get one in any case

std::atomic<bool> watched{false};
moment one_at_a_time;
waited_number calls;

std::atomic<bool> wanted{true};               // extra threads win CPU time, as far as is known

std::int64_t time_of(clockid_t clock) noexcept {
  timespec t{};
  clock_gettime(clock, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

/// Two ways of running a team, tried in turn: which of them brings more of some amount in the same time.
class trial {
 public:
  /// `long_enough_ns`: how long a way is tried. `clearly`: how many times as much the second way must bring. `second`: it is tried first.
  constexpr trial(std::int64_t long_enough_ns, double clearly, bool second) noexcept : long_enough_ns_(long_enough_ns), clearly_(clearly), second_(second) {}
  /// What comes from now on counts.
  void begin(std::int64_t amount) noexcept {
    wall_ = time_of(CLOCK_MONOTONIC);
    amount_ = amount;
  }
  /// What came since the begin or the look before counts for the way in use. True: from now on it is the second one.
  bool look(std::int64_t amount) noexcept {
    const std::int64_t wall = wall_, before = amount_;
    begin(amount);
    way& now = ways_[second_];
    now.wall += wall_ - wall;
    now.amount += amount_ - before;
    if (now.wall < long_enough_ns_) return second_;
    const double rate = static_cast<double>(now.amount) / static_cast<double>(now.wall);
    now.rate = now.rate < 0.0 ? rate : 0.5 * (now.rate + rate);
    now.known_since = wall_;
    now.wall = now.amount = 0;
    const way& other = ways_[!second_];
    if (other.rate < 0.0 || wall_ - other.known_since > known_for_ns) second_ = !second_;
    else second_ = ways_[true].rate > ways_[false].rate * clearly_;
    return second_;
  }

 private:
  static constexpr std::int64_t known_for_ns = 1'000'000'000;     // so the worse way costs a twentieth of the time at most
  struct way {
    double rate = -1.0;
    std::int64_t wall = 0, amount = 0, known_since = 0;
  };
  const std::int64_t long_enough_ns_;
  const double clearly_;
  way ways_[2];
  bool second_;
  std::int64_t wall_ = 0, amount_ = 0;
};

/// As long as members work for long, it comes to each that can go on; else it sleeps until it is called again.
void* extra(void* number) {
  const auto which = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(number));
  extra_hand& me = extras[which];
  me.tid.store(static_cast<pid_t>(syscall(SYS_gettid)), std::memory_order_release);
  for (;;) {
    const std::uint32_t seen = calls.load();
    for (bool on_duty = true; on_duty && folded_members() > 0;) {
      const std::uint32_t before = fold_events().load();
      const std::int64_t begin = time_of(CLOCK_THREAD_CPUTIME_ID);
      if (run_member_as_extra(which, me)) on_duty = time_of(CLOCK_THREAD_CPUTIME_ID) - begin > long_ns / 2 && wanted.load(std::memory_order_relaxed);
      else if (wanted.load(std::memory_order_relaxed)) fold_events().sleep_while(before);
      else on_duty = false;
    }
    calls.sleep_while(seen);
  }
  return nullptr;
}

/// Threads for all members, or one for each CPU: which gets the process more CPU time. Members work for long. A neighbour in a session of its own, for one, is not outnumbered by
/// threads: there the operating system divides between sessions.
class choice_of_extras {
 public:
  void look(bool work_long) noexcept {
    const std::int64_t cpu_ns = time_of(CLOCK_PROCESS_CPUTIME_ID);
    if (work_long) wanted.store(trial_.look(cpu_ns), std::memory_order_relaxed);
    else trial_.begin(cpu_ns);
  }

 private:
  static constexpr std::int64_t some_slices_ns = 60'000'000;   // of the operating system
  trial trial_{some_slices_ns, 1.03, true};
};

/// One thread for each CPU, or the program's own alone: with which members come further. They wait for one another all the time, as in ordered loops with little
/// work, and handing over to another CPU may cost more than the work.
class choice_of_team {
 public:
  /// `events`: what members may have waited for and has come. False: they do not wait so often.
  bool look(bool runs, std::uint32_t events) noexcept {
    const std::uint32_t came = events - events_;
    events_ = events;
    all_ += came;
    const bool often = runs && came >= (runs_alone() ? seldom : much) * static_cast<std::uint32_t>(look_every_ns / 1'000'000);
    if (often) {
      run_alone(trial_.look(all_));
    } else {
      trial_.begin(all_);
      run_alone(false);
    }
    return often;
  }

 private:
  static constexpr std::uint32_t much = 8, seldom = 2;         // a millisecond
  static constexpr std::int64_t some_slices_ns = 30'000'000;   // of the operating system
  trial trial_{some_slices_ns, 1.05, false};
  std::uint32_t events_ = 0;
  std::int64_t all_ = 0;
};

void* watch(void*) {
  region_now before{};
  std::uint32_t taken = 0, looks_without_region = 0, looks_without_change = 0;
  choice_of_extras extras_or_not;
  choice_of_team all_or_one;
  for (;;) {
    constexpr timespec between{0, look_every_ns};
    nanosleep(&between, nullptr);
    const region_now now = latest_region();
    const std::uint32_t newly_taken = members_taken() - taken;
    taken += newly_taken;
    const bool wait_often = all_or_one.look(now.folded && before.folded, fold_events().load());
    const bool work_long = !wait_often && now.folded && before.folded && newly_taken <= look_every_ns / long_ns * (workers.load(std::memory_order_relaxed) + 1);
    looks_without_change = work_long && newly_taken == 0 && now.number == before.number ? looks_without_change + 1 : 0;
    looks_without_region = now.folded || now.number != before.number ? 0 : looks_without_region + 1;
    before = now;
    extras_or_not.look(work_long);
    const bool stuck = looks_without_change >= looks_in_vain;
    if (stuck) let_first_move();
    if (work_long && (wanted.load(std::memory_order_relaxed) || stuck) && can_take_member()) {
      looks_without_change = 0;
      call_extra_threads(extra_threads::now);
    } else if (looks_without_region >= looks_without) {
      sleep_until_next_region(now.number);
      looks_without_region = 0;
      extras_or_not.look(false);
    }
  }
  return nullptr;
}

}  // namespace

void watch_folded() noexcept {
  if (!watched.load(std::memory_order_relaxed) && !watched.exchange(true, std::memory_order_relaxed)) (void)start_thread(watch, nullptr);
}

void call_extra_threads(extra_threads when) noexcept {
  if (when == extra_threads::if_they_win && !wanted.load(std::memory_order_relaxed)) return;
  const hold one(one_at_a_time);
  const std::uint32_t members = folded_members(), hands_there = workers.load(std::memory_order_relaxed) + 1;
  for (std::uint32_t made = extras_made.load(std::memory_order_relaxed); made < most_extras && made + hands_there < members; ++made) {
    if (!start_thread(extra, reinterpret_cast<void*>(static_cast<std::uintptr_t>(made)))) break;
    extras_made.store(made + 1, std::memory_order_release);
  }
  calls.add(1);
  fold_events().add(1);   // one may be on duty since the team before
}

void forget_extra_threads() noexcept {
  wanted.store(true, std::memory_order_relaxed);
  watched.store(false, std::memory_order_relaxed);
  extras_made.store(0, std::memory_order_relaxed);
  one_at_a_time.unlock();
}

}  // namespace kilter::regions
