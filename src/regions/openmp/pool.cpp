#include "regions/openmp/pool.hpp"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "balance/preload/guest.hpp"
#include "regions/openmp/clock.hpp"
#include "regions/openmp/rescue.hpp"

// What glibc's pthread_atfork calls; that one is linked in, with what a library of its own needs.
extern "C" int __register_atfork(void (*)(), void (*)(), void (*)(), void*) noexcept __attribute__((weak));

namespace kilter::regions {

namespace {

std::atomic<bool> claimed{false};
team work;                                             // the region that runs
alignas(128) std::atomic<std::uint64_t> ticket{0};     // members of it << 32 | how many are handed out
alignas(128) waited_number regions;                    // that have begun
bool made = false;
__attribute__((tls_model("initial-exec"))) thread_local pid_t own_tid = 0;

pid_t this_thread() noexcept {
  if (own_tid == 0) own_tid = static_cast<pid_t>(syscall(SYS_gettid));
  return own_tid;
}

/// The next member that nobody has begun, or -1. Of whichever region runs: a region does not end before all of its members have.
std::int64_t take_member() noexcept {
  std::uint64_t t = ticket.load(std::memory_order_acquire);
  while (static_cast<std::uint32_t>(t) < t >> 32)
    if (ticket.compare_exchange_weak(t, t + 1, std::memory_order_acq_rel, std::memory_order_acquire)) return static_cast<std::uint32_t>(t);
  return -1;
}

void run(hand& me, std::uint32_t number) noexcept {
  me.holds.store(true, std::memory_order_relaxed);
  run_member(work, number);
  me.holds.store(false, std::memory_order_relaxed);
  work.left.add(static_cast<std::uint32_t>(-1));
}

/// A member is done. Where members wait for one another a guest stays for its time: at home it would be held up, and all would wait for it again.
void leave_member(hand& me) noexcept {
  if (work.waits.load(std::memory_order_relaxed)) go_home_in_time(me);
  else go_home(me);
}

void wait_for_region(hand& me, std::uint32_t seen) noexcept {
  waiting w(me);
  bool over = work.left.load() == 0;
  while (regions.load() == seen) {
    if (me.host.load(std::memory_order_acquire)) {
      leave_member(me);
      if (me.host.load(std::memory_order_relaxed)) return regions.sleep_while(seen);
    }
    if (!over) {
      w.turn(regions, seen);   // and looks again whether somebody is held up
      if ((over = work.left.load() == 0)) w.begin_again();
    } else if (w.spun_ns() > spin_ns) {
      return regions.sleep_while(seen);
    }
  }
}

void* worker(void* which) {
  hand& me = *static_cast<hand*>(which);
  own_hand = &me;
  me.tid.store(this_thread(), std::memory_order_release);
  me.home_since_ns.store(now_ns(), std::memory_order_relaxed);
  (void)put_on(0, me.home.load(std::memory_order_relaxed));
  for (;;) {
    const std::uint32_t seen = regions.load();
    go_home_in_time(me);
    for (std::int64_t n = take_member(); n >= 0; n = take_member()) {
      run(me, static_cast<std::uint32_t>(n));
      leave_member(me);
    }
    wait_for_region(me, seen);
  }
  return nullptr;
}

void make() noexcept {
  made = true;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  const int here = sched_getcpu();
  std::uint32_t count = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE && count < most_workers; ++cpu) {
    if (cpu == here || !CPU_ISSET(static_cast<unsigned>(cpu), &allowed)) continue;
    hands[count + 1].home.store(cpu, std::memory_order_relaxed);
    if (!start_thread(worker, &hands[count + 1])) break;
    ++count;
  }
  workers.store(count, std::memory_order_release);
}

void wait_for_members(hand& me) noexcept {
  waiting w(me);
  for (std::uint32_t left = work.left.load(); left != 0; left = work.left.load()) w.turn(work.left, left);
}

void forget_threads() {   // the child of a fork has none but the one that forked
  made = false;
  own_tid = 0;
  workers.store(0, std::memory_order_relaxed);
  claimed.store(false, std::memory_order_relaxed);
  forget_rescues();
  own_hand = nullptr;
  ticket.store(0, std::memory_order_relaxed);
  work.left.store(0);
  for (hand& h : hands) {
    h.home.store(-1, std::memory_order_relaxed);
    h.holds.store(false, std::memory_order_relaxed);
    h.waits_for.store(nullptr, std::memory_order_relaxed);
    h.host.store(nullptr, std::memory_order_relaxed);
    h.guests.store(0, std::memory_order_relaxed);
  }
}

__attribute__((constructor)) void watch_forks() {
  if (__register_atfork) __register_atfork(nullptr, nullptr, forget_threads, nullptr);
}

void* one_member(void* number) {
  run_member(work, static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(number)));
  work.left.add(static_cast<std::uint32_t>(-1));
  return nullptr;
}

}  // namespace

bool rescues_allowed() noexcept { return !work.surprised.load(std::memory_order_relaxed); }
bool members_to_begin() noexcept {
  const std::uint64_t t = ticket.load(std::memory_order_relaxed);
  return static_cast<std::uint32_t>(t) < t >> 32;
}

std::uint32_t pool_size() noexcept {
  static std::atomic<std::uint32_t> size{0};
  std::uint32_t cpus = size.load(std::memory_order_relaxed);
  if (cpus == 0) {
    cpu_set_t allowed;
    cpus = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? static_cast<std::uint32_t>(CPU_COUNT(&allowed)) : 1;
    size.store(std::min(cpus, most_workers + 1), std::memory_order_relaxed);
  }
  return cpus;
}

bool claim_pool() noexcept { return !claimed.load(std::memory_order_relaxed) && !claimed.exchange(true, std::memory_order_acquire); }
void release_pool() noexcept { claimed.store(false, std::memory_order_release); }

void begin_all(team& t) noexcept {
  if (t.members == 1 || t.waits.load(std::memory_order_relaxed)) return;
  t.waits.store(true, std::memory_order_relaxed);
  if (t.members <= workers.load(std::memory_order_relaxed) + 1) return;   // a thread that waits runs nothing else meanwhile, so each member finds one
  t.surprised.store(true, std::memory_order_relaxed);
  for (std::int64_t n = take_member(); n >= 0; n = take_member())
    if (!start_thread(one_member, reinterpret_cast<void*>(static_cast<std::uintptr_t>(n)))) {
      balance::preload::tell("there are no threads for the members of a parallel region");
      _exit(1);
    }
}

void await(waited_number& number, std::uint32_t old) noexcept {
  hand* const me = own_hand;
  if (!me || !rescues_allowed()) return number.wait_while(old, spin_ns);
  me->waits_while.store(old, std::memory_order_relaxed);
  me->waits_for.store(&number, std::memory_order_release);
  for (waiting w(*me); number.load() == old;) w.turn(number, old);
  me->waits_for.store(nullptr, std::memory_order_relaxed);
  if (me == &hands[0]) keep_apart(*me);   // it is not pinned, so it wakes where it is quiet: at the home of a worker that was here
  else go_home_in_time(*me);
}
void may_go_home() noexcept {
  if (!own_hand) return;
  own_hand->note_stretch(now_ns());
  go_home_in_time(*own_hand);
}

void run_on_pool(runtime library, body* f, void* data, std::uint32_t members, void (*prepare)(team&, const void*), const void* with) noexcept {
  if (!made) make();
  hand& me = hands[0];
  own_hand = &me;
  me.tid.store(this_thread(), std::memory_order_relaxed);
  keep_apart(me);
  work.reset(f, data, members, nullptr);
  work.library = library;
  if (prepare) prepare(work, with);
  ticket.store(std::uint64_t{members} << 32 | 1, std::memory_order_release);
  regions.add(1);
  if (members > workers.load(std::memory_order_relaxed) + 1) begin_all(work);   // with `all` alone: they may wait for one another by means of their own
  run(me, 0);
  for (std::int64_t n = take_member(); n >= 0; n = take_member()) run(me, static_cast<std::uint32_t>(n));
  wait_for_members(me);
  own_hand = nullptr;
}

void note_surprise(unsigned call) noexcept {
  std::uint32_t none = 0;
  work.surprise.compare_exchange_strong(none, call + 1, std::memory_order_relaxed);
}
bool work_surprised() noexcept { return work.surprise.load(std::memory_order_relaxed) != 0; }
unsigned surprised_by() noexcept { return work.surprise.load(std::memory_order_relaxed) - 1; }

}  // namespace kilter::regions
