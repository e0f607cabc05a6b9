#include "openmp/pool.hpp"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "guest/guest.hpp"
#include "openmp/clock.hpp"
#include "openmp/extra.hpp"
#include "openmp/folded.hpp"
#include "openmp/library_waits.hpp"
#include "openmp/mask.hpp"
#include "openmp/openblas.hpp"
#include "openmp/our_share.hpp"
#include "openmp/parallel.hpp"
#include "openmp/rescue.hpp"
#include "openmp/tasks.hpp"
#include "openmp/to_begin.hpp"

// What glibc's pthread_atfork calls; that one is linked in, with what a library of its own needs.
extern "C" int __register_atfork(void (*)(), void (*)(), void (*)(), void*) noexcept
    __attribute__((weak));

namespace kilter::regions {

namespace {

std::atomic<bool> claimed{false};
team work;                               // the region that runs
alignas(128) members_to_begin to_begin;  // of it
alignas(128) waited_number regions;      // that have begun
std::atomic<std::uint64_t> begun_alone{0};
// only the program's own thread runs members of folded teams
std::atomic<bool> alone{false};
alignas(128) waited_number alone_changes;
std::atomic<std::int64_t> folded_since_ns{0};         // 0: no folded team runs
std::atomic<std::int64_t> folded_ns{0}, usual_ns{0};  // folded_work of those that are over
std::atomic<std::uint32_t> folded_from{0};            // events before the latest one
std::atomic<std::int64_t> an_event_ns{0};             // in it
bool made = false;
__attribute__((tls_model("initial-exec"))) thread_local pid_t own_tid = 0;

pid_t this_thread() noexcept {
  if (own_tid == 0) own_tid = static_cast<pid_t>(syscall(SYS_gettid));
  return own_tid;
}

std::atomic<waited_times*> waits_go{nullptr};  // null: nobody wants to know
// of who ended a member, or came to a barrier last
std::atomic<int> latest_cpu{0};

void begins_to_wait(pool_thread& me) noexcept {
  if (!waits_go.load(std::memory_order_relaxed) ||
      me.idle_since_ns.load(std::memory_order_relaxed) != 0 || work.left.load() == 0)
    return;
  me.idle_since_ns.store(now_ns(), std::memory_order_relaxed);
}
/// Once for each wait: it goes on itself, or the region is over.
void has_waited(pool_thread& h) noexcept {
  if (h.idle_since_ns.load(std::memory_order_relaxed) == 0) return;
  const std::int64_t since_ns = h.idle_since_ns.exchange(0, std::memory_order_relaxed);
  if (waited_times* const to = waits_go.load(std::memory_order_relaxed); to && since_ns != 0)
    to->add(latest_cpu.load(std::memory_order_relaxed), now_ns() - since_ns);
}
template <class Visit>
void each_that_waits(const Visit& visit) noexcept {
  if (!waits_go.load(std::memory_order_relaxed)) return;
  for (std::uint32_t n = 0; n <= workers.load(std::memory_order_relaxed); ++n)
    visit(pool_threads[n]);
}
void has_waited(extra_pool_thread&) noexcept {}  // its CPU has others that work

std::uint32_t waited_for() noexcept { return fold_events().load() - task_events() + tasks_over(); }

void end_member() noexcept {
  note_last_to_come();
  const bool folds = work.folds;  // before: with the last member the team is another one's
  work.left.add(static_cast<std::uint32_t>(-1));
  if (folds && work.left.load() == 0) fold_events().add(1);
}

void run(pool_thread& me, std::uint32_t number) noexcept {
  me.holds.store(true, std::memory_order_relaxed);
  run_member(work, number);
  me.holds.store(false, std::memory_order_relaxed);
  end_member();
}

/// By one of the pool or of the extra threads: runs a member of the folded team until it waits or
/// is over; false: there is none that can go on.
template <class Thread>
bool run_folded(Thread& me, std::uint32_t which) noexcept {
  const std::uint32_t threads = workers.load(std::memory_order_relaxed) + 1;
  folded* const f = take_folded(which % threads, threads, own_pool_thread == &pool_threads[0]);
  if (!f) return false;
  has_waited(me);
  me.holds.store(true, std::memory_order_relaxed);
  const bool over = go_on_with(*f);
  me.holds.store(false, std::memory_order_relaxed);
  if (over) end_member();
  return true;
}
void run_folded_member(std::uint32_t number) { run_member(work, number); }

/// A member is done. Where members wait for one another a guest stays for its time: at home it
/// would be held up, and all would wait for it again.
void leave_member(pool_thread& me) noexcept {
  if (work.waits.load(std::memory_order_relaxed))
    go_home_in_time(me);
  else
    go_home(me);
}

/// While a folded team runs: takes members that can go on, and waits for some. Until the team is
/// over or another region has begun.
void take_members(pool_thread& me, std::uint32_t which, std::uint32_t seen) noexcept {
  const auto runs = [&] { return regions.load() == seen && work.left.load() != 0; };
  waiting w(me);
  while (runs()) {
    const std::uint32_t before = fold_events().load(), changes = alone_changes.load();
    if (&me != &pool_threads[0] && (runs_alone() || me.rests.load(std::memory_order_relaxed))) {
      go_home(me);
      alone_changes.sleep_while(changes);
    } else if (run_folded(me, which)) {
      // what waits on its stack can go on anywhere, so a thread that is held up at home holds up
      // nobody
      go_home(me);
      w.begin_again();
    } else {
      const searching s(work);
      // one for which a task came before it was known that this thread looks for some
      if (run_folded(me, which)) {
        go_home(me);
        w.begin_again();
        continue;
      }
      begins_to_wait(me);
      while (fold_events().load() == before && runs()) w.turn(fold_events(), before);
      // it is not pinned, and may have come to where another one is at home
      if (&me == &pool_threads[0]) keep_apart(me);
    }
  }
}

/// `worked`: it has had a member of this region; others wait for nothing in it.
void wait_for_region(pool_thread& me, std::uint32_t seen, bool worked) noexcept {
  if (folded_members() > 0) take_members(me, static_cast<std::uint32_t>(&me - pool_threads), seen);
  if (worked) begins_to_wait(me);
  waiting w(me);
  bool over = work.left.load() == 0;
  while (regions.load() == seen) {
    if (me.host.load(std::memory_order_acquire)) {
      leave_member(me);
      if (me.host.load(std::memory_order_relaxed)) return regions.sleep_while(seen);
    }
    if (!over) {
      w.turn(regions, seen);  // and looks again whether somebody is held up
      if ((over = work.left.load() == 0)) w.begin_again();
    } else if (w.spun_ns() > spin_ns) {
      return regions.sleep_while(seen);
    }
  }
}

/// There are more threads than members: their own threads come first.
void leave_to_others() noexcept {
  constexpr std::int64_t a_while_ns = 10'000;
  for (const std::int64_t since = now_ns(); to_begin.any() && now_ns() - since < a_while_ns;)
    pause();
}

void* worker(void* thread_of_it) {
  pool_thread& me = *static_cast<pool_thread*>(thread_of_it);
  own_pool_thread = &me;
  me.tid.store(this_thread(), std::memory_order_release);
  me.home_since_ns.store(now_ns(), std::memory_order_relaxed);
  (void)put_on(0, me.home.load(std::memory_order_relaxed));
  for (;;) {
    const std::uint32_t seen = regions.load();
    go_home_in_time(me);
    bool worked = false;
    const auto which = static_cast<std::uint32_t>(&me - pool_threads);
    if (!to_begin.has(which)) leave_to_others();
    for (std::int64_t n = to_begin.take(which); n >= 0; n = to_begin.take(which)) {
      worked = true;
      run(me, static_cast<std::uint32_t>(n));
      leave_member(me);
    }
    wait_for_region(me, seen, worked);
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
    pool_threads[count + 1].home.store(cpu, std::memory_order_relaxed);
    if (!start_thread(worker, &pool_threads[count + 1])) break;
    ++count;
  }
  workers.store(count, std::memory_order_release);
}

void wait_for_members(pool_thread& me) noexcept {
  if (work.folds) return take_members(me, 0, regions.load());
  begins_to_wait(me);
  waiting w(me);
  for (std::uint32_t left = work.left.load(); left != 0; left = work.left.load())
    w.turn(work.left, left);
}

void forget_threads() {  // the child of a fork has none but the one that forked
  made = false;
  own_tid = 0;
  workers.store(0, std::memory_order_relaxed);
  claimed.store(false, std::memory_order_relaxed);
  forget_rescues();
  forget_blas();
  forget_library_waits();
  take_over_in_child();
  forget_mask();
  forget_share();
  own_pool_thread = nullptr;
  to_begin.none();
  work.left.store(0);
  for (pool_thread& h : pool_threads) {
    h.home.store(-1, std::memory_order_relaxed);
    h.holds.store(false, std::memory_order_relaxed);
    h.waits_for.store(nullptr, std::memory_order_relaxed);
    h.host.store(nullptr, std::memory_order_relaxed);
    h.guests.store(0, std::memory_order_relaxed);
    h.rests.store(false, std::memory_order_relaxed);
  }
  alone.store(false, std::memory_order_relaxed);
  for (extra_pool_thread& e : extras) e.holds.store(false, std::memory_order_relaxed);
  unfold();
  forget_extra_threads();
  forget_tasks();
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
bool some_to_begin() noexcept { return to_begin.any(); }

bool claim_pool() noexcept {
  return !claimed.load(std::memory_order_relaxed) &&
         !claimed.exchange(true, std::memory_order_acquire);
}
void release_pool() noexcept { claimed.store(false, std::memory_order_release); }

void begin_all(team& t) noexcept {
  if (t.members == 1 || t.waits.load(std::memory_order_relaxed)) return;
  t.waits.store(true, std::memory_order_relaxed);
  // a thread that waits runs nothing else meanwhile, so each member finds one
  if (t.folds || t.members <= workers.load(std::memory_order_relaxed) + 1) return;
  t.surprised.store(true, std::memory_order_relaxed);
  for (std::int64_t n = to_begin.take(0); n >= 0; n = to_begin.take(0))
    if (!start_thread(one_member, reinterpret_cast<void*>(static_cast<std::uintptr_t>(n)))) {
      guest::tell("there are no threads for the members of a parallel region");
      _exit(1);
    }
}

void await(waited_number& number, std::uint32_t old) noexcept {
  if (on_own_stack()) return leave_until_changed(number, old);
  pool_thread* const me = own_pool_thread;
  if (!me || !rescues_allowed()) return number.wait_while(old, spin_ns);
  me->waits_while.store(old, std::memory_order_relaxed);
  me->waits_for.store(&number, std::memory_order_release);
  begins_to_wait(*me);
  for (waiting w(*me); number.load() == old;) w.turn(number, old);
  has_waited(*me);
  me->waits_for.store(nullptr, std::memory_order_relaxed);
  // it is not pinned, so it wakes where it is quiet: at the home of a worker that was here
  if (me == &pool_threads[0])
    keep_apart(*me);
  else
    go_home_in_time(*me);
}
void tell_change(const team& t) noexcept {
  if (t.folds) fold_events().add(1);
}
void note_last_to_come() noexcept {
  if (waits_go.load(std::memory_order_relaxed))
    latest_cpu.store(sched_getcpu(), std::memory_order_relaxed);
}
void waits_go_to(waited_times* where) noexcept { waits_go.store(where, std::memory_order_relaxed); }
void may_go_home() noexcept {
  if (!own_pool_thread) return;
  own_pool_thread->note_stretch(now_ns());
  go_home_in_time(*own_pool_thread);
}

bool run_member_as_extra(std::uint32_t which, extra_pool_thread& me) noexcept {
  return run_folded(me, which);
}
void wait_as_extra(std::uint32_t seen) noexcept {
  const searching s(work);
  if (!can_take_member()) fold_events().sleep_while(seen);
}
bool runs_alone() noexcept { return alone.load(std::memory_order_acquire); }
void run_alone(bool is) noexcept {
  if (runs_alone() == is || alone.exchange(is, std::memory_order_acq_rel) == is) return;
  if (is) begun_alone.fetch_add(1, std::memory_order_relaxed);
  alone_changes.add(1);
}
std::uint64_t times_alone() noexcept { return begun_alone.load(std::memory_order_relaxed); }
region_now latest_region() noexcept {
  const std::uint32_t number = regions.load(), events = waited_for();
  const std::int64_t since_ns = folded_since_ns.load(std::memory_order_acquire);
  folded_work work{folded_ns.load(std::memory_order_relaxed), events,
                   usual_ns.load(std::memory_order_relaxed)};
  if (since_ns > 0) {
    work.ns += now_ns() - since_ns;
    work.usual_ns += (events - folded_from.load(std::memory_order_relaxed)) *
                     an_event_ns.load(std::memory_order_relaxed);
  }
  return {number, folded_members() > 0, work};
}
void sleep_until_next_region(std::uint32_t number) noexcept { regions.sleep_while(number); }

/// Where each member needs a thread.
void all_work() noexcept {
  run_alone(false);
  bool changed = false;
  for (std::uint32_t n = 1, end = workers.load(std::memory_order_relaxed); n <= end; ++n)
    if (pool_threads[n].rests.load(std::memory_order_relaxed))
      changed = pool_threads[n].rests.exchange(false, std::memory_order_relaxed) || changed;
  if (changed) alone_changes.add(1);
}

/// Who has a CPU of our share works, and the program's own thread, which is wherever the operating
/// system puts it, stands for one of these CPUs.
void keep_to_our_share() noexcept {
  const sharing::cpu_bits ours = our_share();
  const bool all = ours.empty();
  std::uint32_t places = all ? 0 : ours.count() - 1;
  bool changed = false;
  for (std::uint32_t n = 1, end = workers.load(std::memory_order_relaxed); n <= end; ++n) {
    const int home = pool_threads[n].home.load(std::memory_order_relaxed);
    const bool works =
        all || (places > 0 && home >= 0 && ours.has(static_cast<std::uint32_t>(home)));
    if (!all && works) --places;
    if (pool_threads[n].rests.exchange(!works, std::memory_order_relaxed) == works) changed = true;
  }
  if (changed) alone_changes.add(1);
}

folded_work run_on_pool(runtime library, body* f, void* data, const member_settings& settings,
                        std::uint32_t members, const way_to_run& way,
                        void (*prepare)(team&, const void*), const void* with) noexcept {
  const bool folds = way.folds;
  const std::int64_t begin_ns = folds ? now_ns() : 0;
  if (!made) make();
  pool_thread& me = pool_threads[0];
  own_pool_thread = &me;
  me.tid.store(this_thread(), std::memory_order_relaxed);
  keep_apart(me);
  work.reset(f, data, members, nullptr);
  work.library = library;
  work.settings = settings;
  if (prepare) prepare(work, with);
  work.folds = folds;
  work.ends_together = way.makes_tasks;
  if (!folds) all_work();
  if (folds) {
    folded_from.store(waited_for(), std::memory_order_relaxed);
    an_event_ns.store(way.an_event_ns, std::memory_order_relaxed);
    folded_since_ns.store(begin_ns, std::memory_order_release);
    keep_to_our_share();
    watch_folded();
    fold(work, run_folded_member);
  }
  // one may have found out too late that the region before was over
  each_that_waits([](pool_thread& h) { h.idle_since_ns.store(0, std::memory_order_relaxed); });
  to_begin.begin(members, folds ? members : 1);
  regions.add(1);
  if (way.with_extra_threads) call_extra_threads(extra_threads::if_they_win);
  // with `all` alone: they may wait for one another by means of their own
  if (!folds && members > workers.load(std::memory_order_relaxed) + 1) begin_all(work);
  if (!folds) {
    run(me, 0);
    for (std::int64_t n = to_begin.take(0); n >= 0; n = to_begin.take(0))
      run(me, static_cast<std::uint32_t>(n));
  }
  wait_for_members(me);
  run_tasks_left(work);
  each_that_waits([](pool_thread& h) { has_waited(h); });
  own_pool_thread = nullptr;
  if (!folds) return {};
  unfold();
  const std::uint32_t events = waited_for() - folded_from.load(std::memory_order_relaxed);
  const folded_work done{now_ns() - begin_ns, events, events * way.an_event_ns};
  folded_since_ns.store(0, std::memory_order_relaxed);
  folded_ns.store(folded_ns.load(std::memory_order_relaxed) + done.ns, std::memory_order_relaxed);
  usual_ns.store(usual_ns.load(std::memory_order_relaxed) + done.usual_ns,
                 std::memory_order_relaxed);
  return done;
}

bool members_made_tasks() noexcept { return work.has_tasks.load(std::memory_order_relaxed); }
bool members_waited() noexcept { return work.waits.load(std::memory_order_relaxed); }

void note_need(team_need need, std::uint32_t call) noexcept {
  if (need <= work.needs.load(std::memory_order_relaxed)) return;
  work.needs.store(need, std::memory_order_relaxed);
  work.call.store(call, std::memory_order_relaxed);
}
shown_need need_shown() noexcept {
  return {work.needs.load(std::memory_order_relaxed), work.call.load(std::memory_order_relaxed)};
}

}  // namespace kilter::regions
