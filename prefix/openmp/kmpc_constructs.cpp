// What clang's programs do in a region that concerns a whole team: loops whose pieces go to who
// comes, single, ordered, reductions, barriers. Where this thread runs nothing of ours, libomp does
// it.

#include <sched.h>
#include <stdlib.h>

#include <new>

#include "guest/guest.hpp"
#include "openmp/constructs.hpp"
#include "openmp/kmpc.hpp"
#include "openmp/kmpc_shares.hpp"
#include "openmp/tasks.hpp"

namespace kilter::regions {

namespace {

#define REAL(name) real_of(runtime::libomp, real_##name, #name)

// ---- loops --------------------------------------------------------------------------------------

/// `vector`: chunks are multiples of it, if it is not 0; `share`: what each member has of the loop.
run_time_schedule schedule_at_run_time_of_member(std::uint64_t vector,
                                                 std::uint64_t share) noexcept {
  const member_settings s = current ? current->settings : member_settings{};
  const auto how = static_cast<schedule>(static_cast<std::uint32_t>(s.schedule) & 0x7fffffffu);
  const std::uint64_t chunk = s.chunk > 0 ? static_cast<std::uint64_t>(s.chunk) : 0,
                      times = std::max<std::uint64_t>(1, vector);
  if (how == schedule::dynamic || how == schedule::guided)
    return {how, std::max<std::uint64_t>(1, chunk) * times};
  if (how == schedule::fixed && chunk > 0) return {schedule::fixed, chunk * times};
  return {schedule::fixed, vector > 1 ? (share + vector - 1) / vector * vector : 0};
}

run_time_schedule schedule_of(kmpc_schedule how, std::int64_t chunk, std::uint64_t count,
                              const team& t) noexcept {
  const std::uint64_t at_least_one = chunk > 0 ? static_cast<std::uint64_t>(chunk) : 1;
  switch (how) {
    case kmpc_schedule::static_chunked: return {schedule::fixed, at_least_one};
    case kmpc_schedule::fixed:
    case kmpc_schedule::greedy:
    case kmpc_schedule::balanced:
    case kmpc_schedule::balanced_chunked:
    case kmpc_schedule::automatic: return {schedule::fixed, 0};
    case kmpc_schedule::guided:
    case kmpc_schedule::guided_iterative:
    case kmpc_schedule::guided_analytical:
    case kmpc_schedule::guided_simd:
    case kmpc_schedule::trapezoidal: return {schedule::guided, at_least_one};
    case kmpc_schedule::run_time: return schedule_at_run_time_of_member(0, 0);
    case kmpc_schedule::run_time_simd:
      return schedule_at_run_time_of_member(at_least_one, (count + t.members - 1) / t.members);
    case kmpc_schedule::dynamic:
    case kmpc_schedule::steal:
    case kmpc_schedule::distribute:
    case kmpc_schedule::distribute_chunked: break;
  }
  return {schedule::dynamic, at_least_one};
}

template <class T>
void begin_loop(member& m, const named_schedule& s, T lower, T upper, std::make_signed_t<T> by,
                std::make_signed_t<T> chunk) noexcept {
  if (s.ordered) begin_all(*m.of);
  come_to_share([&](work_share& w) {
    const std::uint64_t count = kmpc_count(lower, upper, by);
    const run_time_schedule r = schedule_of(s.how, chunk, count, *m.of);
    set_up_loop(w, r.how, r.chunk, static_cast<std::uint64_t>(lower),
                static_cast<std::uint64_t>(static_cast<std::int64_t>(by)), count);
  });
  m.ordered = s.ordered;
}

template <class T>
int next_piece_of_loop(const member& m, std::int32_t* last, T* lower, T* upper,
                       std::make_signed_t<T>* stride) noexcept {
  if (!m.share) return 0;
  const iterations got = next_iterations();
  if (got.none()) {
    loop_end_nowait();
    return 0;
  }
  const work_share& s = *m.share;
  *lower = static_cast<T>(s.first + s.step * got.begin);
  *upper = static_cast<T>(s.first + s.step * (got.end - 1));
  if (stride) *stride = static_cast<std::make_signed_t<T>>(s.step);
  if (last) *last = got.end == s.count ? 1 : 0;
  return 1;
}

// ---- loops whose iterations wait for others: a bit for each that is done ------------------------

struct bounds {
  std::int64_t lower, upper, by;
};
struct doacross_loop {
  std::int32_t dimensions;
  const bounds* of;  // after this, and then the bits
  std::atomic<std::uint32_t>* done;
};

doacross_loop* make_doacross(std::int32_t dimensions, const bounds* of) noexcept {
  std::uint64_t count = 1;
  for (std::int32_t d = 0; d < dimensions; ++d)
    count *= kmpc_count(of[d].lower, of[d].upper, of[d].by);
  const std::size_t sizes = static_cast<std::size_t>(dimensions) * sizeof(bounds);
  char* const room = static_cast<char*>(
      calloc(1, sizeof(doacross_loop) + sizes + (count / 32 + 1) * sizeof(std::uint32_t)));
  if (!room) {
    guest::tell("there is no memory for a loop with dependences");
    abort();
  }
  memcpy(room + sizeof(doacross_loop), of, sizes);
  return new (room) doacross_loop{
      dimensions, reinterpret_cast<bounds*>(room + sizeof(doacross_loop)),
      reinterpret_cast<std::atomic<std::uint32_t>*>(room + sizeof(doacross_loop) + sizes)};
}

/// False: there is no such iteration, and nobody waits for it.
bool index_of(const doacross_loop& l, const std::int64_t* at, std::uint64_t& index) noexcept {
  index = 0;
  for (std::int32_t d = 0; d < l.dimensions; ++d) {
    const bounds& b = l.of[d];
    if (b.by > 0 ? at[d] < b.lower || at[d] > b.upper : at[d] > b.lower || at[d] < b.upper)
      return false;
    index = index * kmpc_count(b.lower, b.upper, b.by) + kmpc_count(b.lower, at[d], b.by) - 1;
  }
  return true;
}

// ---- a team of one inside of a member -----------------------------------------------------------

struct alone {
  team of;
  member its;
};

}  // namespace

void begin_alone() noexcept {
  void* const room = aligned_alloc(alignof(alone), sizeof(alone));
  if (!room) {
    guest::tell("there is no memory for a parallel region");
    abort();
  }
  alone* const a = new (room) alone{.of = {}, .its = {}};
  a->of.reset(current->of->run, current->of->data, 1, current);
  a->of.library = runtime::libomp;
  a->its.of = &a->of;
  a->its.settings = current->settings;
  begin_implicit_task(a->its);
  current = &a->its;
}

void end_alone() noexcept {
  member* const around = current->of->parent;
  alone* const a = reinterpret_cast<alone*>(current->of);
  end_implicit_task(a->its);
  a->of.drop_shares();
  free(a);
  current = around;
}

}  // namespace kilter::regions

using namespace kilter::regions;

#define PASS(name, result, parameters, arguments) \
  static result(*real_##name) parameters;         \
  return REAL(name) arguments

#define LOOP(suffix, T)                                                                            \
  KILTER_EXPORTED void __kmpc_dispatch_init_##suffix(                                              \
      ident* place, std::int32_t thread, std::int32_t how, T lower, T upper,                       \
      std::make_signed_t<T> by, std::make_signed_t<T> chunk) {                                     \
    const named_schedule s = schedule_of_number(how);                                              \
    if (member* const m =                                                                          \
            s.ordered ? kmpc_member(kmpc_call::number_of___kmpc_ordered) : kmpc_member())          \
      return begin_loop(*m, s, lower, upper, by, chunk);                                           \
    PASS(__kmpc_dispatch_init_##suffix, void,                                                      \
         (ident*, std::int32_t, std::int32_t, T, T, std::make_signed_t<T>, std::make_signed_t<T>), \
         (place, thread, how, lower, upper, by, chunk));                                           \
  }                                                                                                \
  KILTER_EXPORTED int __kmpc_dispatch_next_##suffix(ident* place, std::int32_t thread,             \
                                                    std::int32_t* last, T* lower, T* upper,        \
                                                    std::make_signed_t<T>* stride) {               \
    if (const member* const m = kmpc_member())                                                     \
      return next_piece_of_loop(*m, last, lower, upper, stride);                                   \
    PASS(__kmpc_dispatch_next_##suffix, int,                                                       \
         (ident*, std::int32_t, std::int32_t*, T*, T*, std::make_signed_t<T>*),                    \
         (place, thread, last, lower, upper, stride));                                             \
  }                                                                                                \
  KILTER_EXPORTED void __kmpc_dispatch_fini_##suffix(ident* place, std::int32_t thread) {          \
    if (kmpc_member()) return;                                                                     \
    PASS(__kmpc_dispatch_fini_##suffix, void, (ident*, std::int32_t), (place, thread));            \
  }
LOOP(4, std::int32_t)
LOOP(4u, std::uint32_t)
LOOP(8, std::int64_t)
LOOP(8u, std::uint64_t)
#undef LOOP

KILTER_EXPORTED void __kmpc_dispatch_deinit(ident* place, std::int32_t thread) {
  if (kmpc_member()) return;
  PASS(__kmpc_dispatch_deinit, void, (ident*, std::int32_t), (place, thread));
}

KILTER_EXPORTED void __kmpc_ordered(ident* place, std::int32_t thread) {
  if (kmpc_member(kmpc_call::number_of___kmpc_ordered)) return wait_for_turn();
  PASS(__kmpc_ordered, void, (ident*, std::int32_t), (place, thread));
}
KILTER_EXPORTED void __kmpc_end_ordered(ident* place, std::int32_t thread) {
  if (kmpc_member()) return;  // its turn ends with its chunk
  PASS(__kmpc_end_ordered, void, (ident*, std::int32_t), (place, thread));
}

KILTER_EXPORTED void __kmpc_doacross_init(ident* place, std::int32_t thread,
                                          std::int32_t dimensions, const bounds* of) {
  if (member* const m = kmpc_member(kmpc_call::number_of___kmpc_doacross_init)) {
    begin_all(*m->of);
    m->doacross = &come_to_share([&](work_share& s) { s.memory = make_doacross(dimensions, of); });
    return;
  }
  PASS(__kmpc_doacross_init, void, (ident*, std::int32_t, std::int32_t, const bounds*),
       (place, thread, dimensions, of));
}
KILTER_EXPORTED void __kmpc_doacross_wait(ident* place, std::int32_t thread,
                                          const std::int64_t* at) {
  if (const member* const m = kmpc_member()) {
    const doacross_loop& l = *static_cast<const doacross_loop*>(m->doacross->memory);
    std::uint64_t index = 0;
    if (!index_of(l, at, index)) return;
    for (unsigned tries = 1;
         (l.done[index / 32].load(std::memory_order_acquire) >> index % 32 & 1) == 0; ++tries)
      if (tries % 64 == 0)
        sched_yield();
      else
        kilter::regions::pause();
    return;
  }
  PASS(__kmpc_doacross_wait, void, (ident*, std::int32_t, const std::int64_t*),
       (place, thread, at));
}
KILTER_EXPORTED void __kmpc_doacross_post(ident* place, std::int32_t thread,
                                          const std::int64_t* at) {
  if (const member* const m = kmpc_member()) {
    const doacross_loop& l = *static_cast<const doacross_loop*>(m->doacross->memory);
    std::uint64_t index = 0;
    if (index_of(l, at, index))
      l.done[index / 32].fetch_or(1u << index % 32, std::memory_order_release);
    return;
  }
  PASS(__kmpc_doacross_post, void, (ident*, std::int32_t, const std::int64_t*),
       (place, thread, at));
}
KILTER_EXPORTED void __kmpc_doacross_fini(ident* place, std::int32_t thread) {
  if (member* const m = kmpc_member()) {
    work_share& s = *m->doacross;
    m->doacross = nullptr;
    return leave_share(s);
  }
  PASS(__kmpc_doacross_fini, void, (ident*, std::int32_t), (place, thread));
}

// ---- one of the team ----------------------------------------------------------------------------

KILTER_EXPORTED std::int32_t __kmpc_single(ident* place, std::int32_t thread) {
  if (kmpc_member()) return take_single() ? 1 : 0;
  PASS(__kmpc_single, std::int32_t, (ident*, std::int32_t), (place, thread));
}
KILTER_EXPORTED void __kmpc_end_single(ident* place, std::int32_t thread) {
  if (kmpc_member()) return;
  PASS(__kmpc_end_single, void, (ident*, std::int32_t), (place, thread));
}

/// Between its two barriers the others copy from the one that ran the single.
KILTER_EXPORTED void __kmpc_copyprivate(ident* place, std::int32_t thread, std::size_t size,
                                        void* data, void (*copy)(void*, void*), std::int32_t mine) {
  if (const member* const m = kmpc_member(kmpc_call::number_of___kmpc_copyprivate)) {
    team& t = *m->of;
    if (mine) t.copy = data;
    barrier();
    if (!mine) copy(data, t.copy);
    return barrier();
  }
  PASS(__kmpc_copyprivate, void,
       (ident*, std::int32_t, std::size_t, void*, void (*)(void*, void*), std::int32_t),
       (place, thread, size, data, copy, mine));
}

KILTER_EXPORTED std::int32_t __kmpc_master(ident* place, std::int32_t thread) {
  if (const member* const m = kmpc_member()) return m->number == 0 ? 1 : 0;
  PASS(__kmpc_master, std::int32_t, (ident*, std::int32_t), (place, thread));
}
KILTER_EXPORTED void __kmpc_end_master(ident* place, std::int32_t thread) {
  if (kmpc_member()) return;
  PASS(__kmpc_end_master, void, (ident*, std::int32_t), (place, thread));
}
KILTER_EXPORTED std::int32_t __kmpc_masked(ident* place, std::int32_t thread, std::int32_t which) {
  if (const member* const m = kmpc_member())
    return static_cast<std::int32_t>(m->number) == which ? 1 : 0;
  PASS(__kmpc_masked, std::int32_t, (ident*, std::int32_t, std::int32_t), (place, thread, which));
}
KILTER_EXPORTED void __kmpc_end_masked(ident* place, std::int32_t thread) {
  if (kmpc_member()) return;
  PASS(__kmpc_end_masked, void, (ident*, std::int32_t), (place, thread));
}

// ---- all of the team ----------------------------------------------------------------------------

KILTER_EXPORTED void __kmpc_barrier(ident* place, std::int32_t thread) {
  if (kmpc_member(kmpc_call::number_of___kmpc_barrier)) return barrier();
  PASS(__kmpc_barrier, void, (ident*, std::int32_t), (place, thread));
}
KILTER_EXPORTED std::int32_t __kmpc_cancel_barrier(ident* place, std::int32_t thread) {
  if (kmpc_member(kmpc_call::number_of___kmpc_cancel_barrier)) {
    barrier();
    return 0;
  }
  PASS(__kmpc_cancel_barrier, std::int32_t, (ident*, std::int32_t), (place, thread));
}

namespace {

/// 2: the program adds with atomic operations, which holds up nobody. 1: it adds now, and says when
/// it has.
std::int32_t begin_reduction(const member& m, const ident* place) noexcept {
  if (m.of->members == 1) return 1;
  if (place && (place->flags & has_atomic_reduction) != 0) return 2;
  m.of->reducing.lock();
  m.of->reducer.store(&m, std::memory_order_relaxed);
  return 1;
}
void end_reduction(const member& m) noexcept {
  team& t = *m.of;
  if (t.reducer.load(std::memory_order_relaxed) != &m) return;
  t.reducer.store(nullptr, std::memory_order_relaxed);
  t.reducing.unlock();
}

}  // namespace

#define REDUCTION(name, ours)                                                                     \
  KILTER_EXPORTED std::int32_t name(ident* place, std::int32_t thread, std::int32_t count,        \
                                    std::size_t size, void* data, void (*add)(void*, void*),      \
                                    void* lock) {                                                 \
    if (const member* const m = ours) return begin_reduction(*m, place);                          \
    PASS(name, std::int32_t,                                                                      \
         (ident*, std::int32_t, std::int32_t, std::size_t, void*, void (*)(void*, void*), void*), \
         (place, thread, count, size, data, add, lock));                                          \
  }
REDUCTION(__kmpc_reduce_nowait, kmpc_member())
REDUCTION(__kmpc_reduce, kmpc_member(kmpc_call::number_of___kmpc_reduce))
#undef REDUCTION
KILTER_EXPORTED void __kmpc_end_reduce_nowait(ident* place, std::int32_t thread, void* lock) {
  if (const member* const m = kmpc_member()) return end_reduction(*m);
  PASS(__kmpc_end_reduce_nowait, void, (ident*, std::int32_t, void*), (place, thread, lock));
}
KILTER_EXPORTED void __kmpc_end_reduce(ident* place, std::int32_t thread, void* lock) {
  if (const member* const m = kmpc_member()) {
    end_reduction(*m);
    return barrier();
  }
  PASS(__kmpc_end_reduce, void, (ident*, std::int32_t, void*), (place, thread, lock));
}
