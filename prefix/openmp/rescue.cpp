#include "openmp/rescue.hpp"

#include <sched.h>

#include <algorithm>

#include "openmp/clock.hpp"
#include "openmp/held_up.hpp"

namespace kilter::regions {

namespace {

constexpr std::int64_t shared_for_ns = 100'000'000;  // many slices of the operating system
constexpr std::int64_t least_stay_ns = 1'000'000, longest_stay_ns = 4'000'000;
constexpr std::int64_t host_looks_again_ns = 1'000'000;

std::atomic<bool> looked_for{false};  // somebody is moving a thread
std::atomic<std::uint64_t> rescues{0}, exchanges{0};

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

/// It waits for others in its member, and what it waits for has not come.
bool still_waits(const pool_thread& h) noexcept {
  const waited_number* const n = h.waits_for.load(std::memory_order_acquire);
  return n && n->load() == h.waits_while.load(std::memory_order_relaxed);
}

/// Others wait for it: it has a member in hand, or should begin one.
bool is_waited_for(const pool_thread& h) noexcept {
  return (h.holds.load(std::memory_order_relaxed) || some_to_begin()) && !still_waits(h);
}

/// Of the guests on its CPU one has something to do.
bool has_busy_guest(const pool_thread& me) noexcept {
  if (me.guests.load(std::memory_order_relaxed) == 0) return false;
  const std::uint32_t count = workers.load(std::memory_order_relaxed);
  for (std::uint32_t w = 1; w <= count; ++w)
    if (pool_threads[w].host.load(std::memory_order_relaxed) == &me &&
        is_waited_for(pool_threads[w]))
      return true;
  return false;
}

/// A worker that is held up goes on here, where this thread has nothing to do. `very_late`: it is
/// also moved while it runs, if it shares its CPU: it would be held up soon, and this CPU is its
/// own.
bool take_in(pool_thread& late, pool_thread& me, bool very_late, const awaited& what) noexcept {
  if (late.host.load(std::memory_order_relaxed) || !is_waited_for(late)) return false;
  const std::int64_t now = now_ns();
  const bool held = held_up(late.tid.load(std::memory_order_relaxed), what),
             by_us = late.guests.load(std::memory_order_relaxed) > 0;
  if (held && !by_us) {  // once, it may have been anything; twice, there is a neighbour
    if (now < late.suspected_until_ns.load(std::memory_order_relaxed))
      late.shared_until_ns.store(now + shared_for_ns, std::memory_order_relaxed);
    late.suspected_until_ns.store(now + shared_for_ns, std::memory_order_relaxed);
  }
  const bool shared = !by_us && now < late.shared_until_ns.load(std::memory_order_relaxed);
  if (what.came() || (!held && !(very_late && shared))) return false;
  if (!put_on(late.tid.load(std::memory_order_relaxed), me.home.load(std::memory_order_relaxed)))
    return false;
  // The neighbour will have its CPU for about as long as it had it itself, and until then both do
  // better here. Without one it leaves as soon as it can.
  const std::int64_t stay =
      held && shared ? std::clamp(now - late.home_since_ns.load(std::memory_order_relaxed),
                                  least_stay_ns, longest_stay_ns)
                     : 0;
  late.stays_until_ns.store(now + stay, std::memory_order_relaxed);
  me.guests.fetch_add(1, std::memory_order_relaxed);
  // last: one that has ended its member meanwhile still finds that it must leave
  late.host.store(&me, std::memory_order_release);
  rescues.fetch_add(1, std::memory_order_relaxed);
  return true;
}

/// Puts a thread that may be anywhere on this CPU; its mask stays as it is.
bool fetch(pid_t tid, int cpu) noexcept {
  cpu_set_t its;
  if (sched_getaffinity(tid, sizeof its, &its) != 0 ||
      !CPU_ISSET(static_cast<unsigned>(cpu), &its) || !put_on(tid, cpu))
    return false;
  sched_setaffinity(tid, sizeof its, &its);
  return true;
}

/// An extra thread that is held up goes on here. The operating system may leave it where it is
/// although this CPU is free: to it such a thread weighs next to nothing, where the neighbour is in
/// a session of its own.
bool take_in(const extra_pool_thread& late, const pool_thread& me, const awaited& what) noexcept {
  const pid_t tid = late.tid.load(std::memory_order_acquire);
  if (tid == 0 || !late.holds.load(std::memory_order_relaxed) || !held_up(tid, what) ||
      !fetch(tid, me.home.load(std::memory_order_relaxed)))
    return false;
  rescues.fetch_add(1, std::memory_order_relaxed);
  return true;
}

/// The program's own thread is held up: it gets the CPU of this worker, who goes to where it was.
/// Its mask stays as it is.
bool make_room_for(pool_thread& program, pool_thread& me, const awaited& what) noexcept {
  const pid_t tid = program.tid.load(std::memory_order_relaxed);
  const int mine = me.home.load(std::memory_order_relaxed),
            other = program.home.load(std::memory_order_relaxed);
  if (!is_waited_for(program) || program.guests.load(std::memory_order_relaxed) > 0 ||
      me.guests.load(std::memory_order_relaxed) > 0)
    return false;
  if (other < 0 || other == mine || !held_up(tid, what)) return false;
  if (!fetch(tid, mine)) return false;
  program.home.store(mine, std::memory_order_relaxed);
  me.home.store(other, std::memory_order_relaxed);
  (void)put_on(0, other);
  exchanges.fetch_add(1, std::memory_order_relaxed);
  return true;
}

/// By the program's own thread. Homes change only in the hands of the one who looks, so no two
/// threads come to have the same.
void look_where_it_is(pool_thread& program) noexcept {
  const int here = sched_getcpu(), was = program.home.load(std::memory_order_relaxed);
  if (here == was) return;
  program.home.store(here, std::memory_order_relaxed);
  if (was < 0) return;
  const std::uint32_t count = workers.load(std::memory_order_relaxed);
  for (std::uint32_t w = 1; w <= count; ++w)
    if (pool_threads[w].home.load(std::memory_order_relaxed) == here) {
      pool_threads[w].home.store(was);
      // A guest of this one is moved as well: it may be on its way to the home that it had, and
      // would wait there for us.
      if (const pool_thread* const host = pool_threads[w].host.load(); !host || host == &program)
        (void)put_on(pool_threads[w].tid.load(std::memory_order_relaxed), was);
      return;
    }
}

}  // namespace

bool look_for_late(pool_thread& me, bool again, const awaited& what) noexcept {
  const the_one_who_looks one;
  if (!one || !rescues_allowed() || me.host.load(std::memory_order_relaxed) || has_busy_guest(me))
    return false;
  if (&me == &pool_threads[0])
    look_where_it_is(me);
  else if (make_room_for(pool_threads[0], me, what))
    return true;
  const std::uint32_t count = workers.load(std::memory_order_relaxed);
  for (std::uint32_t w = 1; w <= count; ++w)
    if (&pool_threads[w] != &me && take_in(pool_threads[w], me, again, what)) return true;
  for (std::uint32_t e = 0, end = extras_made.load(std::memory_order_acquire); e < end; ++e)
    if (take_in(extras[e], me, what)) return true;
  return false;
}

void go_home(pool_thread& me) noexcept {
  pool_thread* const host = me.host.load(std::memory_order_acquire);
  if (!host) return;
  const int cpu = me.home.load();
  (void)put_on(0, cpu);
  me.home_since_ns.store(now_ns(), std::memory_order_relaxed);
  host->guests.fetch_sub(1, std::memory_order_relaxed);
  me.host.store(nullptr);  // late: until then nobody moves it again
  // Who gives it another home meanwhile (keep_apart) stores that before it looks at `host`; so it
  // sees no host and moves us, or we see the new home.
  if (const int now = me.home.load(); now != cpu) (void)put_on(0, now);
}

void go_home_in_time(pool_thread& me) noexcept {
  if (me.host.load(std::memory_order_acquire) &&
      now_ns() + me.stretch_ns >= me.stays_until_ns.load(std::memory_order_relaxed))
    go_home(me);
}

void keep_apart(pool_thread& program) noexcept {
  if (sched_getcpu() == program.home.load(std::memory_order_relaxed)) return;
  if (const the_one_who_looks one; one) look_where_it_is(program);
}

waiting::waiting(pool_thread& me) noexcept : me_(me), begin_ns_(now_ns()) {
  me.note_stretch(begin_ns_);
}

void waiting::begin_again() noexcept {
  begin_ns_ = now_ns();
  look_ns_ = look_after_ns;
  tries_ = 0;
}

std::int64_t waiting::spun_ns() noexcept {
  pause();
  return ++tries_ % 32 == 0 ? now_ns() - begin_ns_ : -1;
}

void waiting::turn(waited_number& number, std::uint32_t old) noexcept {
  if (me_.host.load(std::memory_order_relaxed) || has_busy_guest(me_))
    return number.sleep_while(old, host_looks_again_ns);
  const std::int64_t waited = spun_ns();
  if (waited > look_ns_) {
    const bool again = look_ns_ > look_after_ns;
    look_ns_ = waited + look_again_ns;
    if (look_for_late(me_, again, {number, old})) return number.sleep_while(old, look_again_ns);
  }
  if (waited > spin_ns) number.sleep_while(old, look_again_ns);
}

rescue_numbers rescues_so_far() noexcept {
  return {rescues.load(std::memory_order_relaxed), exchanges.load(std::memory_order_relaxed)};
}

void forget_rescues() noexcept { looked_for.store(false, std::memory_order_relaxed); }

}  // namespace kilter::regions
