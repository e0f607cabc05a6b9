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
#include "regions/openmp/held_up.hpp"

// What glibc's pthread_atfork calls; that one is linked in, with what a library of its own needs.
extern "C" int __register_atfork(void (*)(), void (*)(), void (*)(), void*) noexcept __attribute__((weak));

namespace kilter::regions {

namespace {

constexpr std::uint32_t most_workers = 255;
constexpr std::int64_t spin_ns = 50'000;      // nobody spins longer where nothing comes
constexpr std::int64_t look_after_ns = 25'000;  // a member that is late is looked for after so long
constexpr std::int64_t look_again_ns = 200'000;
constexpr std::int64_t shared_for_ns = 100'000'000;   // many slices of the operating system

/// Of each thread that runs members; the first is the program's own.
struct alignas(128) hand {
  std::atomic<pid_t> tid{0};
  std::atomic<int> home{-1};             ///< its CPU
  std::atomic<bool> holds{false};        ///< a member is begun and not ended
  std::atomic<bool> guest{false};        ///< on another CPU than its own, until it has no member in hand
  std::atomic<std::int64_t> shared_until_ns{0};   ///< others have taken its CPU lately
};

hand hands[most_workers + 1];
std::atomic<std::uint32_t> workers{0};
std::atomic<bool> claimed{false}, looked_for{false};   // `looked_for`: somebody is moving a thread
team work;                                             // the region that runs
alignas(128) std::atomic<std::uint64_t> ticket{0};     // members of it << 32 | how many are handed out
alignas(128) waited_number regions;                    // that have begun
std::atomic<std::uint64_t> rescues{0}, exchanges{0};
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

void put_on(pid_t thread, int cpu) noexcept {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned>(cpu), &one);
  sched_setaffinity(thread, sizeof one, &one);
}

/// True for one thread at a time.
class the_one_who_looks {
 public:
  the_one_who_looks() noexcept : mine_(!looked_for.exchange(true, std::memory_order_acquire)) {}
  ~the_one_who_looks() {
    if (mine_) looked_for.store(false, std::memory_order_release);
  }
  the_one_who_looks(const the_one_who_looks&) = delete;
  the_one_who_looks& operator=(const the_one_who_looks&) = delete;
  explicit operator bool() const noexcept { return mine_; }

 private:
  const bool mine_;
};

/// A worker that is held up goes on here, where this thread has nothing to do, until its member is done. `very_late`: it is also moved while it runs, if it shares
/// its CPU: it would be held up soon, and this CPU is its own.
bool take_in(hand& late, int cpu, bool very_late) noexcept {
  if (!late.holds.load(std::memory_order_relaxed) || late.guest.load(std::memory_order_relaxed)) return false;
  const std::int64_t now = now_ns();
  if (held_up(late.tid.load(std::memory_order_relaxed))) late.shared_until_ns.store(now + shared_for_ns, std::memory_order_relaxed);
  else if (!very_late || now > late.shared_until_ns.load(std::memory_order_relaxed)) return false;
  put_on(late.tid.load(std::memory_order_relaxed), cpu);
  late.guest.store(true, std::memory_order_release);   // after it: a worker that has ended its member meanwhile still finds that it must leave
  rescues.fetch_add(1, std::memory_order_relaxed);
  return true;
}

/// The program's own thread is held up: it gets the CPU of this worker, who goes to where it was. Its mask stays as it is.
bool make_room_for(hand& program, hand& me) noexcept {
  const pid_t tid = program.tid.load(std::memory_order_relaxed);
  cpu_set_t its;
  const int mine = me.home.load(std::memory_order_relaxed), other = program.home.load(std::memory_order_relaxed);
  if (!program.holds.load(std::memory_order_relaxed) || other < 0 || other == mine || !held_up(tid)) return false;
  if (sched_getaffinity(tid, sizeof its, &its) != 0 || !CPU_ISSET(static_cast<unsigned>(mine), &its)) return false;
  put_on(tid, mine);
  sched_setaffinity(tid, sizeof its, &its);
  program.home.store(mine, std::memory_order_relaxed);
  me.home.store(other, std::memory_order_relaxed);
  put_on(0, other);
  exchanges.fetch_add(1, std::memory_order_relaxed);
  return true;
}

/// By who has nothing to do, while members of others are not done; `again`: it has looked before. True: it should sleep now, for its CPU is somebody's.
bool look_for_late(hand& me, bool again) noexcept {
  const the_one_who_looks one;
  if (!one || work.surprised.load(std::memory_order_relaxed)) return false;
  const std::uint32_t count = workers.load(std::memory_order_relaxed);
  const int here = me.home.load(std::memory_order_relaxed);
  if (&me != &hands[0] && make_room_for(hands[0], me)) return true;
  for (std::uint32_t w = 1; w <= count; ++w)
    if (&hands[w] != &me && take_in(hands[w], here, again)) return true;
  return false;
}

/// A guest leaves as soon as it holds nothing.
void go_home(hand& me) noexcept {
  if (me.guest.load(std::memory_order_acquire)) {
    me.guest.store(false, std::memory_order_relaxed);
    put_on(0, me.home.load(std::memory_order_relaxed));
  }
}

void wait_for_region(hand& me, std::uint32_t seen) noexcept {
  const std::int64_t begin = now_ns();
  std::int64_t look_ns = look_after_ns;
  for (unsigned tries = 1; regions.load() == seen; ++tries) {
    go_home(me);
    pause();
    if (tries % 32 != 0) continue;
    const std::int64_t waited = now_ns() - begin;
    const bool others_work = work.left.load() != 0;
    if (waited > look_ns && others_work) {
      if (look_for_late(me, look_ns > look_after_ns)) return regions.sleep_while(seen);
      look_ns += look_again_ns;
    }
    if (waited > spin_ns) {
      if (!others_work) return regions.sleep_while(seen);
      regions.sleep_while(seen, look_again_ns);   // and looks again whether somebody is held up
      if (regions.load() != seen) return;
    }
  }
}

void* worker(void* which) {
  hand& me = *static_cast<hand*>(which);
  me.tid.store(this_thread(), std::memory_order_release);
  put_on(0, me.home.load(std::memory_order_relaxed));
  for (;;) {
    const std::uint32_t seen = regions.load();
    go_home(me);
    for (std::int64_t n = take_member(); n >= 0; n = take_member()) {
      run(me, static_cast<std::uint32_t>(n));
      go_home(me);
    }
    wait_for_region(me, seen);
  }
  return nullptr;
}

bool start_thread(void* (*f)(void*), void* argument) noexcept {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);   // signals are for the program's own threads
  pthread_t thread;
  const bool begun = pthread_create(&thread, &attributes, f, argument) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return begun;
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

/// The program's own thread may be anywhere. Who has the CPU that it is on now gets the one where it was.
void keep_apart(hand& me) noexcept {
  const int here = sched_getcpu(), was = me.home.load(std::memory_order_relaxed);
  if (here == was) return;
  me.home.store(here, std::memory_order_relaxed);
  if (was < 0) return;
  const std::uint32_t count = workers.load(std::memory_order_relaxed);
  for (std::uint32_t w = 1; w <= count; ++w)
    if (hands[w].home.load(std::memory_order_relaxed) == here) {
      hands[w].home.store(was, std::memory_order_relaxed);
      if (!hands[w].guest.load(std::memory_order_relaxed)) put_on(hands[w].tid.load(std::memory_order_relaxed), was);
      return;
    }
}

void wait_for_members(hand& me) noexcept {
  const std::int64_t begin = now_ns();
  std::int64_t look_ns = look_after_ns;
  for (unsigned tries = 1;; ++tries) {
    const std::uint32_t left = work.left.load();
    if (left == 0) return;
    pause();
    if (tries % 32 != 0) continue;
    const std::int64_t waited = now_ns() - begin;
    if (waited > look_ns) {
      const bool again = look_ns > look_after_ns;
      look_ns += look_again_ns;
      if (look_for_late(me, again)) work.left.sleep_while(left, look_again_ns);
    }
    if (waited > spin_ns) work.left.sleep_while(left, look_again_ns);
  }
}

void forget_threads() {   // the child of a fork has none but the one that forked
  made = false;
  own_tid = 0;
  workers.store(0, std::memory_order_relaxed);
  claimed.store(false, std::memory_order_relaxed);
  looked_for.store(false, std::memory_order_relaxed);
  ticket.store(0, std::memory_order_relaxed);
  work.left.store(0);
  for (hand& h : hands) {
    h.home.store(-1, std::memory_order_relaxed);
    h.holds.store(false, std::memory_order_relaxed);
    h.guest.store(false, std::memory_order_relaxed);
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
  if (t.members == 1 || t.surprised.load(std::memory_order_relaxed)) return;
  t.surprised.store(true, std::memory_order_relaxed);
  for (std::int64_t n = take_member(); n >= 0; n = take_member())
    if (!start_thread(one_member, reinterpret_cast<void*>(static_cast<std::uintptr_t>(n)))) {
      balance::preload::tell("there are no threads for the members of a parallel region");
      _exit(1);
    }
}

void run_on_pool(runtime library, body* f, void* data, std::uint32_t members, void (*prepare)(team&, const void*), const void* with) noexcept {
  if (!made) make();
  hand& me = hands[0];
  me.tid.store(this_thread(), std::memory_order_relaxed);
  keep_apart(me);
  work.reset(f, data, members, nullptr);
  work.library = library;
  if (prepare) prepare(work, with);
  ticket.store(std::uint64_t{members} << 32 | 1, std::memory_order_release);
  regions.add(1);
  run(me, 0);
  for (std::int64_t n = take_member(); n >= 0; n = take_member()) run(me, static_cast<std::uint32_t>(n));
  wait_for_members(me);
  work.drop_shares();
}

void note_surprise(unsigned call) noexcept {
  std::uint32_t none = 0;
  work.surprise.compare_exchange_strong(none, call + 1, std::memory_order_relaxed);
}
bool work_surprised() noexcept { return work.surprise.load(std::memory_order_relaxed) != 0; }
unsigned surprised_by() noexcept { return work.surprise.load(std::memory_order_relaxed) - 1; }

pool_numbers pool_told() noexcept { return {rescues.load(std::memory_order_relaxed), exchanges.load(std::memory_order_relaxed)}; }

}  // namespace kilter::regions
