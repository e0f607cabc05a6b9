#include "openmp/extra.hpp"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "openmp/clock.hpp"
#include "openmp/folded.hpp"
#include "openmp/our_share.hpp"
#include "openmp/pool.hpp"
#include "openmp/pool_threads.hpp"
#include "openmp/trial.hpp"

namespace kilter::regions {

namespace {

constexpr std::int64_t look_every_ns = 2'000'000;
/// Members that work for so long between two waits are worth a thread each: it costs some switches
/// of the operating system, and those are slices of milliseconds then.
constexpr std::int64_t long_ns = 1'000'000;
// regions, after which nobody looks until the next one
constexpr std::uint32_t looks_without = 50;
// at threads that are all in the middle of something, after which members that have none get one in
// any case
constexpr std::uint32_t looks_in_vain = 5;

std::atomic<bool> watched{false};
moment one_at_a_time;
waited_number calls;

std::atomic<bool> wanted{true};  // extra threads win CPU time, as far as is known

std::int64_t time_of(clockid_t clock) noexcept {
  timespec t{};
  clock_gettime(clock, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

/// As long as members work for long, it comes to each that can go on; else it sleeps until it is
/// called again.
void* extra(void* number) {
  const auto which = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(number));
  extra_pool_thread& me = extras[which];
  me.tid.store(static_cast<pid_t>(syscall(SYS_gettid)), std::memory_order_release);
  for (;;) {
    const std::uint32_t seen = calls.load();
    for (bool on_duty = true; on_duty && folded_members() > 0;) {
      const std::uint32_t before = fold_events().load();
      const std::int64_t begin = time_of(CLOCK_THREAD_CPUTIME_ID);
      if (run_member_as_extra(which, me))
        on_duty = time_of(CLOCK_THREAD_CPUTIME_ID) - begin > long_ns / 2 &&
                  wanted.load(std::memory_order_relaxed);
      else if (wanted.load(std::memory_order_relaxed))
        wait_as_extra(before);
      else
        on_duty = false;
    }
    calls.sleep_while(seen);
  }
  return nullptr;
}

/// Threads for all members, or one for each CPU: which gets the process more CPU time. Members work
/// for long. A neighbour in a session of its own, for one, is not outnumbered by threads: there the
/// operating system divides between sessions.
class choice_of_extras {
 public:
  void look(bool work_long) noexcept {
    const std::int64_t cpu_ns = time_of(CLOCK_PROCESS_CPUTIME_ID);
    if (work_long)
      trial_.look(cpu_ns, now_ns());
    else
      trial_.begin(cpu_ns, now_ns());
    wanted.store(trial_.second(), std::memory_order_relaxed);
  }

 private:
  static constexpr std::int64_t some_slices_ns = 60'000'000;  // of the operating system
  trial trial_{some_slices_ns, 1.03, true};
};

void* watch(void*) {
  region_now before{};
  std::uint32_t taken = 0, looks_without_region = 0, looks_without_change = 0;
  std::uint32_t share = 0;
  choice_of_extras extras_or_not;
  choice_of_team all_or_one;
  for (;;) {
    constexpr timespec between{0, look_every_ns};
    nanosleep(&between, nullptr);
    const region_now now = latest_region();
    if (const std::uint32_t share_now = now.folded ? renew_share(pool_size()) : share;
        share_now != share) {
      share = share_now;
      keep_to_our_share();
    }
    const std::uint32_t newly_taken = members_taken() - taken;
    taken += newly_taken;
    const bool wait_often = all_or_one.look(runs_alone(), now.work);
    if (now.work.ns != before.work.ns) run_alone(all_or_one.alone());
    const bool work_long =
        !wait_often && now.folded && before.folded &&
        newly_taken <= look_every_ns / long_ns * (workers.load(std::memory_order_relaxed) + 1);
    looks_without_change =
        work_long && newly_taken == 0 && now.number == before.number ? looks_without_change + 1 : 0;
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

bool extra_threads_win() noexcept { return wanted.load(std::memory_order_relaxed); }

void watch_folded() noexcept {
  if (!watched.load(std::memory_order_relaxed) &&
      !watched.exchange(true, std::memory_order_relaxed))
    (void)start_thread(watch, nullptr);
}

void call_extra_threads(extra_threads when) noexcept {
  if (when == extra_threads::if_they_win && !wanted.load(std::memory_order_relaxed)) return;
  const hold one(one_at_a_time);
  const std::uint32_t members = folded_members(),
                      hands_there = workers.load(std::memory_order_relaxed) + 1;
  for (std::uint32_t made = extras_made.load(std::memory_order_relaxed);
       made < most_extras && made + hands_there < members; ++made) {
    if (!start_thread(extra, reinterpret_cast<void*>(static_cast<std::uintptr_t>(made)))) break;
    extras_made.store(made + 1, std::memory_order_release);
  }
  calls.add(1);
  fold_events().add(1);  // one may be on duty since the team before
}

void forget_extra_threads() noexcept {
  wanted.store(true, std::memory_order_relaxed);
  watched.store(false, std::memory_order_relaxed);
  extras_made.store(0, std::memory_order_relaxed);
  one_at_a_time.unlock();
}

}  // namespace kilter::regions
