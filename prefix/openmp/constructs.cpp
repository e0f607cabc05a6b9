#include "openmp/constructs.hpp"

#include <stdlib.h>
#include "openmp/gomp_tasks.hpp"
#include "openmp/parallel.hpp"
#include "openmp/shares.hpp"
#include "openmp/tasks.hpp"
#include "regions/libgomp.hpp"

namespace kilter::regions {

namespace {

/// Others may be waited for before its end, so all of them begin.
template <class SetUp>
work_share& enter(const SetUp& set_up) noexcept {
  begin_all(*current->of);
  return come_to_share(set_up);
}

void wait_for_chunk(work_share& s, std::uint32_t chunk) noexcept {
  for (std::uint32_t turn = s.turn.load(); turn != chunk; turn = s.turn.load()) await(s.turn, turn);
}

/// The next chunk's turn. Each chunk has a number of its own, so no two members add to `turn` at
/// once.
void leave_chunk(member& m) noexcept {
  if (!m.ordered || !m.has_chunk) return;
  m.has_chunk = false;
  work_share& s = *m.share;
  wait_for_chunk(s, static_cast<std::uint32_t>(m.chunk_number));
  s.turn.add(1);
  tell_change(*m.of);
}

bool piece(std::uint64_t* begin, std::uint64_t* end) noexcept {
  const iterations got = next_iterations();
  if (got.none()) return false;
  const work_share& s = *current->share;
  *begin = s.first + s.step * got.begin;
  *end = s.first + s.step * got.end;
  return true;
}

bool start(schedule how, std::uint64_t chunk, bool ordered, std::uint64_t first, std::uint64_t step,
           std::uint64_t count, std::uint64_t* begin, std::uint64_t* end) noexcept {
  enter([&](work_share& s) { set_up_loop(s, how, chunk, first, step, count); });
  current->ordered = ordered;
  return piece(begin, end);
}

void end_loop() noexcept {
  loop_end_nowait();
  barrier();
}

// ---- what libgomp calls them --------------------------------------------------------------------

using u64 = std::uint64_t;
u64* wide(long* p) noexcept { return reinterpret_cast<u64*>(p); }
u64* wide(unsigned long long* p) noexcept { return reinterpret_cast<u64*>(p); }

template <schedule How, bool Ordered>
bool long_start(long first, long end, long by, long chunk, long* b, long* e) {
  return start(How, static_cast<u64>(chunk), Ordered, static_cast<u64>(first), static_cast<u64>(by),
               count_of(first, end, by), wide(b), wide(e));
}
template <bool Ordered>
bool long_run_time(long first, long end, long by, long* b, long* e) {
  const run_time_schedule r = schedule_at_run_time();
  return start(r.how, r.chunk, Ordered, static_cast<u64>(first), static_cast<u64>(by),
               count_of(first, end, by), wide(b), wide(e));
}
template <schedule How, bool Ordered>
bool ull_start(bool up, unsigned long long first, unsigned long long end, unsigned long long by,
               unsigned long long chunk, unsigned long long* b, unsigned long long* e) {
  return start(How, chunk, Ordered, first, by, count_of(up, first, end, by), wide(b), wide(e));
}
template <bool Ordered>
bool ull_run_time(bool up, unsigned long long first, unsigned long long end, unsigned long long by,
                  unsigned long long* b, unsigned long long* e) {
  const run_time_schedule r = schedule_at_run_time();
  return start(r.how, r.chunk, Ordered, first, by, count_of(up, first, end, by), wide(b), wide(e));
}
bool long_next(long* b, long* e) { return piece(wide(b), wide(e)); }
bool ull_next(unsigned long long* b, unsigned long long* e) { return piece(wide(b), wide(e)); }

/// The general form, which also asks for memory that all members share: of one size, zeroed, kept
/// until the share is used again.
run_time_schedule of_number(long number, u64 chunk) noexcept {
  const auto how = static_cast<schedule>(number & 0x7fffffff);
  if (how == schedule::run_time) return schedule_at_run_time();
  return {how == schedule::automatic ? schedule::fixed : how,
          how == schedule::automatic ? 0 : chunk};
}
void give_memory(void** memory) noexcept {
  if (!memory) return;
  work_share& s = *current->share;
  const hold one(s.lock);
  const auto size = reinterpret_cast<std::uintptr_t>(*memory);
  if (!s.memory && size > 0) s.memory = calloc(1, size);
  *memory = s.memory;
}
template <bool Ordered>
bool long_general(long first, long end, long by, long how, long chunk, long* b, long* e,
                  std::uintptr_t*, void** memory) {
  const run_time_schedule r = of_number(how, static_cast<u64>(chunk));
  enter([&](work_share& s) {
    set_up_loop(s, r.how, r.chunk, static_cast<u64>(first), static_cast<u64>(by),
                count_of(first, end, by));
  });
  current->ordered = Ordered;
  give_memory(memory);
  return b ? piece(wide(b), wide(e)) : true;
}
template <bool Ordered>
bool ull_general(bool up, unsigned long long first, unsigned long long end, unsigned long long by,
                 long how, unsigned long long chunk, unsigned long long* b, unsigned long long* e,
                 std::uintptr_t*, void** memory) {
  const run_time_schedule r = of_number(how, chunk);
  enter([&](work_share& s) {
    set_up_loop(s, r.how, r.chunk, first, by, count_of(up, first, end, by));
  });
  current->ordered = Ordered;
  give_memory(memory);
  return b ? piece(wide(b), wide(e)) : true;
}

constexpr auto own_GOMP_loop_start = long_general<false>;
constexpr auto own_GOMP_loop_ordered_start = long_general<true>;
constexpr auto own_GOMP_loop_ull_start = ull_general<false>;
constexpr auto own_GOMP_loop_ull_ordered_start = ull_general<true>;
constexpr auto own_GOMP_loop_static_start = long_start<schedule::fixed, false>;
constexpr auto own_GOMP_loop_dynamic_start = long_start<schedule::dynamic, false>;
constexpr auto own_GOMP_loop_guided_start = long_start<schedule::guided, false>;
constexpr auto own_GOMP_loop_runtime_start = long_run_time<false>;
constexpr auto own_GOMP_loop_nonmonotonic_dynamic_start = long_start<schedule::dynamic, false>;
constexpr auto own_GOMP_loop_nonmonotonic_guided_start = long_start<schedule::guided, false>;
constexpr auto own_GOMP_loop_nonmonotonic_runtime_start = long_run_time<false>;
constexpr auto own_GOMP_loop_maybe_nonmonotonic_runtime_start = long_run_time<false>;
constexpr auto own_GOMP_loop_ordered_static_start = long_start<schedule::fixed, true>;
constexpr auto own_GOMP_loop_ordered_dynamic_start = long_start<schedule::dynamic, true>;
constexpr auto own_GOMP_loop_ordered_guided_start = long_start<schedule::guided, true>;
constexpr auto own_GOMP_loop_ordered_runtime_start = long_run_time<true>;
constexpr auto own_GOMP_loop_static_next = long_next, own_GOMP_loop_ordered_static_next = long_next,
               own_GOMP_loop_ordered_dynamic_next = long_next,
               own_GOMP_loop_ordered_guided_next = long_next,
               own_GOMP_loop_ordered_runtime_next = long_next;
constexpr auto own_GOMP_loop_ull_static_start = ull_start<schedule::fixed, false>;
constexpr auto own_GOMP_loop_ull_dynamic_start = ull_start<schedule::dynamic, false>;
constexpr auto own_GOMP_loop_ull_guided_start = ull_start<schedule::guided, false>;
constexpr auto own_GOMP_loop_ull_runtime_start = ull_run_time<false>;
constexpr auto own_GOMP_loop_ull_nonmonotonic_dynamic_start = ull_start<schedule::dynamic, false>;
constexpr auto own_GOMP_loop_ull_nonmonotonic_guided_start = ull_start<schedule::guided, false>;
constexpr auto own_GOMP_loop_ull_nonmonotonic_runtime_start = ull_run_time<false>;
constexpr auto own_GOMP_loop_ull_maybe_nonmonotonic_runtime_start = ull_run_time<false>;
constexpr auto own_GOMP_loop_ull_ordered_static_start = ull_start<schedule::fixed, true>;
constexpr auto own_GOMP_loop_ull_ordered_dynamic_start = ull_start<schedule::dynamic, true>;
constexpr auto own_GOMP_loop_ull_ordered_guided_start = ull_start<schedule::guided, true>;
constexpr auto own_GOMP_loop_ull_ordered_runtime_start = ull_run_time<true>;
constexpr auto own_GOMP_loop_ull_static_next = ull_next, own_GOMP_loop_ull_dynamic_next = ull_next,
               own_GOMP_loop_ull_guided_next = ull_next, own_GOMP_loop_ull_runtime_next = ull_next,
               own_GOMP_loop_ull_nonmonotonic_dynamic_next = ull_next,
               own_GOMP_loop_ull_nonmonotonic_guided_next = ull_next,
               own_GOMP_loop_ull_nonmonotonic_runtime_next = ull_next,
               own_GOMP_loop_ull_maybe_nonmonotonic_runtime_next = ull_next,
               own_GOMP_loop_ull_ordered_static_next = ull_next,
               own_GOMP_loop_ull_ordered_dynamic_next = ull_next,
               own_GOMP_loop_ull_ordered_guided_next = ull_next,
               own_GOMP_loop_ull_ordered_runtime_next = ull_next;
void own_GOMP_loop_end() { end_loop(); }
bool own_GOMP_loop_end_cancel() {
  end_loop();
  return false;
}

void own_GOMP_barrier() { barrier(); }
bool own_GOMP_barrier_cancel() {
  barrier();
  return false;
}

bool own_GOMP_single_start() {
  begin_all(*current->of);
  return take_single();
}
void* own_GOMP_single_copy_start() {
  team& t = *current->of;
  const std::uint32_t before = current->copies++;
  if (own_GOMP_single_start()) return nullptr;
  while (t.copies.load() == before) await(t.copies, before);
  return t.copy;
}
void own_GOMP_single_copy_end(void* what) {
  team& t = *current->of;
  t.copy = what;
  t.copies.add(1);  // the barrier after it is a call of its own
  tell_change(t);
}
void own_GOMP_scope_start(std::uintptr_t*) {}

void own_GOMP_ordered_start() { wait_for_turn(); }
void own_GOMP_ordered_end() {}

unsigned section() noexcept {
  u64 begin = 0, end = 0;
  return piece(&begin, &end) ? static_cast<unsigned>(begin) : 0;
}
unsigned own_GOMP_sections_start(unsigned count) {
  enter([&](work_share& s) { set_up_loop(s, schedule::dynamic, 1, 1, 1, count); });
  return section();
}
unsigned own_GOMP_sections2_start(unsigned count, std::uintptr_t*, void** memory) {
  enter([&](work_share& s) { set_up_loop(s, schedule::dynamic, 1, 1, 1, count); });
  give_memory(memory);
  return section();
}
unsigned own_GOMP_sections_next() { return section(); }
void own_GOMP_sections_end() { end_loop(); }
bool own_GOMP_sections_end_cancel() { return own_GOMP_loop_end_cancel(); }
void own_GOMP_sections_end_nowait() { loop_end_nowait(); }

// ---- loops whose iterations wait for one another: the first member that comes gets all of them,
// in their order, so each finds those before it done.

template <class Number>
bool in_order(const Number* counts, Number* b, Number* e) noexcept {
  const auto all = static_cast<u64>(counts[0]);
  return start(schedule::dynamic, all, false, 0, 1, all, wide(b), wide(e));
}
template <class Number>
bool doacross(unsigned, Number* counts, Number, Number* b, Number* e) {
  return in_order(counts, b, e);
}
template <class Number>
bool doacross_run_time(unsigned, Number* counts, Number* b, Number* e) {
  return in_order(counts, b, e);
}
template <class Number>
bool doacross_general(unsigned, Number* counts, long, Number, Number* b, Number* e, std::uintptr_t*,
                      void** memory) {
  enter([&](work_share& s) {
    set_up_loop(s, schedule::dynamic, static_cast<u64>(counts[0]), 0, 1,
                static_cast<u64>(counts[0]));
  });
  give_memory(memory);
  return b ? piece(wide(b), wide(e)) : true;
}
using ull = unsigned long long;
constexpr auto own_GOMP_loop_doacross_start = doacross_general<long>;
constexpr auto own_GOMP_loop_doacross_static_start = doacross<long>,
               own_GOMP_loop_doacross_dynamic_start = doacross<long>,
               own_GOMP_loop_doacross_guided_start = doacross<long>;
constexpr auto own_GOMP_loop_doacross_runtime_start = doacross_run_time<long>;
constexpr auto own_GOMP_loop_ull_doacross_start = doacross_general<ull>;
constexpr auto own_GOMP_loop_ull_doacross_static_start = doacross<ull>,
               own_GOMP_loop_ull_doacross_dynamic_start = doacross<ull>,
               own_GOMP_loop_ull_doacross_guided_start = doacross<ull>;
constexpr auto own_GOMP_loop_ull_doacross_runtime_start = doacross_run_time<ull>;
void own_GOMP_doacross_post(long*) {}
void own_GOMP_doacross_wait(long, ...) {}
void own_GOMP_doacross_ull_post(ull*) {}
void own_GOMP_doacross_ull_wait(ull, ...) {}

// ---- cancellation: none, for where OMP_CANCELLATION allows it everything is left to libgomp.

bool own_GOMP_cancel(int, bool) { return false; }
bool own_GOMP_cancellation_point(int) { return false; }

#define ADDRESS(name) reinterpret_cast<void*>(+own_##name),
void* const all_of_ours[] = {KILTER_TEAM_CALLS(ADDRESS)};
#undef ADDRESS

}  // namespace

void* ours(unsigned index) noexcept { return all_of_ours[index]; }

team_need need_of(unsigned index) noexcept {
#define ONE(name) +1
  constexpr unsigned of_members = 0 KILTER_CALLS_OF_MEMBERS(ONE) KILTER_CALLS_OF_TASKS(ONE),
                     and_in_order = of_members KILTER_CALLS_IN_ORDER(ONE);
#undef ONE
  return index < of_members     ? team_need::members
         : index < and_in_order ? team_need::order
                                : team_need::library;
}

bool is_of_tasks(unsigned index) noexcept {
#define ONE(name) +1
  constexpr unsigned before = 0 KILTER_CALLS_OF_MEMBERS(ONE),
                     last = before KILTER_CALLS_OF_TASKS(ONE);
#undef ONE
  return index >= before && index < last;
}

void set_up_loop(work_share& s, schedule how, std::uint64_t chunk, std::uint64_t first,
                 std::uint64_t step, std::uint64_t count) noexcept {
  s.how = how == schedule::automatic ? schedule::fixed : how;
  s.chunk = chunk;
  s.first = first;
  s.step = step;
  s.count = count;
  s.next.store(0, std::memory_order_relaxed);
}

/// `rounds` cannot change between a member's look at it and its coming, since that member is
/// missing.
void barrier() noexcept {
  member& m = *current;
  team& t = *m.of;
  begin_all(t);
  const std::uint32_t round = t.rounds.load(std::memory_order_relaxed);
  const bool last = t.at_barrier.fetch_add(1, std::memory_order_seq_cst) + 1 == t.members;
  if (last && !t.has_tasks.load(std::memory_order_relaxed))
    end_round(t);
  else
    wait_at_barrier(m, round);
}

bool take_single() noexcept {
  std::uint32_t mine = current->singles++;
  return current->of->singles.compare_exchange_strong(mine, mine + 1, std::memory_order_acq_rel);
}

void leave_share(work_share& s) noexcept {
  const team& t = *current->of;
  if (&s == &t.first_loop || s.ended.fetch_add(1, std::memory_order_acq_rel) + 1 != t.members)
    return;
  s.ended.store(0, std::memory_order_relaxed);
  s.phase.add(1);
  tell_change(t);
}

iterations next_iterations() noexcept {
  member& m = *current;
  work_share& s = *m.share;
  leave_chunk(m);
  iterations got;
  if (m.ordered) {
    const hold one(s.lock);
    got = s.how == schedule::fixed
              ? fixed_piece(s.count, s.chunk, m.of->members, m.number, m.trip++)
              : next_piece(s, m.of->members);
    // Chunks of a fixed schedule have their numbers by place, the others by who came.
    m.chunk_number = s.how != schedule::fixed ? s.issued++
                     : s.chunk == 0           ? m.number
                                              : (m.trip - 1) * m.of->members + m.number;
    m.has_chunk = !got.none() || (s.how == schedule::fixed && s.chunk == 0 && m.trip == 1);
    if (got.none() && m.has_chunk) leave_chunk(m);  // a share without iterations has its turn too
  } else {
    got = s.how == schedule::fixed
              ? fixed_piece(s.count, s.chunk, m.of->members, m.number, m.trip++)
              : next_piece(s, m.of->members);
  }
  return got;
}

void wait_for_turn() noexcept {
  member& m = *current;
  if (!m.ordered || !m.has_chunk) return;
  wait_for_chunk(*m.share, static_cast<std::uint32_t>(m.chunk_number));
}

bool loop_next(std::uint64_t* begin, std::uint64_t* end) noexcept { return piece(begin, end); }
void loop_end_nowait() noexcept {
  member& m = *current;
  leave_chunk(m);
  m.ordered = false;
  work_share& s = *m.share;
  m.share = nullptr;
  leave_share(s);
}

}  // namespace kilter::regions
