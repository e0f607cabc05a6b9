// Tasks of clang's programs. In a member of ours they are tasks of ours; else libomp has them. What
// the program has of a task lies right behind what we have of it.

#include "openmp/kmpc_tasks.hpp"

#include <string.h>

#include <algorithm>

#include "guest/guest.hpp"
#include "openmp/dependences.hpp"
#include "openmp/events.hpp"

namespace kilter::regions {

namespace {

using u64 = std::uint64_t;

enum flag : std::int32_t { is_final = 1 << 1, cleans_up = 1 << 3, is_proxy = 1 << 4 };

kmpc_task* of_program(task& t) noexcept {
  return reinterpret_cast<kmpc_task*>(reinterpret_cast<char*>(&t) + task_with_gap);
}
task& of_ours(kmpc_task* k) noexcept {
  return *reinterpret_cast<task*>(reinterpret_cast<char*>(k) - task_with_gap);
}
std::size_t bytes_of(const task& t) noexcept {
  return t.bytes - task_with_gap - (alignment_before - alignof(std::max_align_t));
}

/// All of it, also if it is untied and comes in parts, and then what ends with it. It is told the
/// number of the thread on which the member is now.
void run_parts(kmpc_task* k) noexcept {
  task& t = of_ours(k);
  do {
    t.again = false;
    if (k->routine) k->routine(number_in_libomp(nullptr), k);
  } while (t.again);
  if (t.cleans_up) k->one.clean_up(number_in_libomp(nullptr), k);
}
void run_task(void* program) { run_parts(static_cast<kmpc_task*>(program)); }

kmpc_task* make(member& m, bool final_one, std::size_t bytes) noexcept {
  task& t = make_task_before(m, bytes);
  t.run = run_task;
  t.data = of_program(t);
  t.final_one = final_one || m.doing->final_one;
  return of_program(t);
}

kmpc_task* make(member& m, int flags, std::size_t bytes, std::size_t bytes_of_shared,
                kmpc_task::function* routine) noexcept {
  const std::size_t aligned = (bytes + alignof(void*) - 1) / alignof(void*) * alignof(void*);
  kmpc_task* const k = make(m, (flags & is_final) != 0, aligned + bytes_of_shared);
  k->shared = bytes_of_shared > 0 ? reinterpret_cast<char*>(k) + aligned : nullptr;
  k->routine = routine;
  k->part = 0;
  of_ours(k).cleans_up = (flags & cleans_up) != 0;
  if ((flags & is_proxy) != 0) detach(m, of_ours(k));
  return k;
}

void begin(member& m, kmpc_task* k) noexcept {
  task& t = of_ours(k);
  if (&t == m.doing)
    t.again = true;  // an untied one: its next part
  else if (runs_at_once(m))
    run_at_once(m, t);
  else
    submit(m, t, nullptr);
}

// ---- what tasks use -----------------------------------------------------------------------------

struct depend {
  const void* what;
  std::size_t bytes;  // of it; the address alone counts
  std::uint8_t how;
};
enum how_used : std::uint8_t {
  is_written = 1 << 1,
  in_turns = 1 << 2,
  together = 1 << 3,
  all_memory = 1 << 7
};

/// Two lists. What takes turns (mutexinoutset) does so in the order in which it comes.
struct depends {
  int count;
  const depend* list;
  int more;
  const depend* list_of_more;

  template <class F>
  void operator()(const F& f) const noexcept {
    for (int n = 0; n < count; ++n) tell(f, list[n]);
    for (int n = 0; n < more; ++n) tell(f, list_of_more[n]);
  }

 private:
  template <class F>
  static void tell(const F& f, const depend& d) noexcept {
    const bool all = reinterpret_cast<std::uintptr_t>(d.what) == UINTPTR_MAX;
    if (all || (d.how & all_memory) != 0) return f(use{nullptr, true});
    const bool writes = (d.how & (is_written | in_turns)) != 0;
    if (d.what) f(use{d.what, writes, (d.how & together) != 0});
  }
};

// ---- loops --------------------------------------------------------------------------------------

enum cut : int { as_we_like, into_pieces_of, into_so_many };

/// How many iterations each piece has, and how many pieces have one more.
struct pieces {
  u64 each, longer;
};
pieces cut_loop(u64 count, int how, u64 number, bool strict, u64 members) noexcept {
  constexpr u64 for_each_member = 10;  // as with libomp
  if (count == 0) return {1, 0};
  const u64 given = std::max<u64>(1, how == as_we_like ? members * for_each_member : number);
  if (how == into_pieces_of && strict) return {given, 0};
  const u64 all = how == into_pieces_of ? std::max<u64>(1, count / given) : std::min(count, given);
  return {count / all, count % all};
}

struct loop {
  u64 *first, *last;  // in the task from which the others are made
  std::int64_t by;

  [[nodiscard]] u64 count() const noexcept {
    const u64 up = *last - *first, down = *first - *last;
    const auto step = static_cast<u64>(by);
    return by == 1 ? up + 1 : by < 0 ? down / (0 - step) + 1 : up / step + 1;
  }
};

using copy_function = void(kmpc_task* to, kmpc_task* from, std::int32_t is_last);

/// Where the one task has what the other one has there.
void* at_same_place(kmpc_task* in, const kmpc_task* as_in, const void* there) noexcept {
  const auto distance = static_cast<const char*>(there) - reinterpret_cast<const char*>(as_in);
  return reinterpret_cast<char*>(in) + distance;
}

kmpc_task* copy(member& m, kmpc_task* from) noexcept {
  const task& t = of_ours(from);
  const std::size_t bytes = bytes_of(t);
  kmpc_task* const to = make(m, t.final_one, bytes);
  memcpy(static_cast<void*>(to), from, bytes);
  of_ours(to).cleans_up = t.cleans_up;
  if (from->shared) to->shared = at_same_place(to, from, from->shared);
  return to;
}

void make_pieces(member& m, kmpc_task* k, bool may_wait, const loop& l, const pieces& cut,
                 copy_function* copy_values) noexcept {
  const auto in = [&](kmpc_task* of, const u64* bound) -> u64& {
    return *static_cast<u64*>(at_same_place(of, k, bound));
  };
  const u64 count = l.count(), first = *l.first, by = static_cast<u64>(l.by);
  u64 longer = cut.longer;
  for (u64 done = 0; done < count;) {
    const u64 now = std::min(count - done, cut.each + (longer > 0 ? 1 : 0));
    if (longer > 0) --longer;
    kmpc_task* const piece = copy(m, k);
    in(piece, l.first) = first + by * done;
    done += now;
    in(piece, l.last) = first + by * (done - 1);
    if (copy_values) copy_values(piece, k, done == count ? 1 : 0);
    if (may_wait && !runs_at_once(m))
      submit(m, of_ours(piece), nullptr);
    else
      run_at_once(m, of_ours(piece));
  }
}

struct loop_call {
  bool may_wait, no_group;
  int how;
  u64 number;
  bool strict;
  copy_function* copy_values;
};
void taskloop(member& m, kmpc_task* k, const loop& l, const loop_call& c) noexcept {
  if (!c.no_group) begin_group(m);
  const pieces cut = cut_loop(l.count(), c.how, c.number, c.strict, m.of->members);
  make_pieces(m, k, c.may_wait, l, cut, c.copy_values);
  if (of_ours(k).cleans_up) k->one.clean_up(number_in_libomp(nullptr), k);
  give_up(m, of_ours(k));
  if (!c.no_group) end_group(m);
}

/// Null: it is not one of ours. In front of libomp's there is as much memory.
task* ours_if_it_is(kmpc_task* k) noexcept {
  task& t = of_ours(k);
  return t.run == run_task && t.data == k ? &t : nullptr;
}

}  // namespace

}  // namespace kilter::regions

using namespace kilter::regions;
using function = kmpc_task::function;

#define REAL(name) real_of(runtime::libomp, real_##name, #name)
#define PASS(name, result, parameters, arguments) \
  static result(*real_##name) parameters;         \
  return REAL(name) arguments
#define MEMBER(name) kmpc_member(kmpc_call::number_of_##name)

KILTER_EXPORTED kmpc_task* __kmpc_omp_task_alloc(ident* place, int thread, int flags, size_t bytes,
                                                 size_t shared, function* routine) {
  if (member* const m = MEMBER(__kmpc_omp_task_alloc))
    return make(*m, flags, bytes, shared, routine);
  PASS(__kmpc_omp_task_alloc, kmpc_task*, (ident*, int, int, size_t, size_t, function*),
       (place, thread, flags, bytes, shared, routine));
}
KILTER_EXPORTED kmpc_task* __kmpc_omp_target_task_alloc(ident* place, int thread, int flags,
                                                        size_t bytes, size_t shared,
                                                        function* routine, std::int64_t device) {
  if (member* const m = MEMBER(__kmpc_omp_task_alloc))
    return make(*m, flags, bytes, shared, routine);
  PASS(__kmpc_omp_target_task_alloc, kmpc_task*,
       (ident*, int, int, size_t, size_t, function*, std::int64_t),
       (place, thread, flags, bytes, shared, routine, device));
}
KILTER_EXPORTED int __kmpc_omp_reg_task_with_affinity(ident* place, int thread, kmpc_task* k,
                                                      int count, void* list) {
  if (kmpc_member()) return 0;
  PASS(__kmpc_omp_reg_task_with_affinity, int, (ident*, int, kmpc_task*, int, void*),
       (place, thread, k, count, list));
}

#define BEGIN(name)                                                  \
  KILTER_EXPORTED int name(ident* place, int thread, kmpc_task* k) { \
    if (member* const m = kmpc_member()) {                           \
      begin(*m, k);                                                  \
      return 0;                                                      \
    }                                                                \
    PASS(name, int, (ident*, int, kmpc_task*), (place, thread, k));  \
  }
BEGIN(__kmpc_omp_task)
BEGIN(__kmpc_omp_task_parts)
#undef BEGIN

KILTER_EXPORTED int __kmpc_omp_task_with_deps(ident* place, int thread, kmpc_task* k, int count,
                                              const depend* list, int more,
                                              const depend* list_of_more) {
  if (member* const m = kmpc_member()) {
    const depends uses{count, list, more, list_of_more};
    if (runs_at_once(*m)) {
      wait_in_order(*m, uses);
      run_at_once(*m, of_ours(k));
    } else {
      submit_in_order(*m, of_ours(k), uses);
    }
    return 0;
  }
  PASS(__kmpc_omp_task_with_deps, int,
       (ident*, int, kmpc_task*, int, const depend*, int, const depend*),
       (place, thread, k, count, list, more, list_of_more));
}

// The program calls the function in between.
KILTER_EXPORTED void __kmpc_omp_task_begin_if0(ident* place, int thread, kmpc_task* k) {
  if (member* const m = kmpc_member()) return begin_at_once(*m, of_ours(k));
  PASS(__kmpc_omp_task_begin_if0, void, (ident*, int, kmpc_task*), (place, thread, k));
}
KILTER_EXPORTED void __kmpc_omp_task_complete_if0(ident* place, int thread, kmpc_task* k) {
  if (member* const m = kmpc_member()) {
    task& t = of_ours(k);
    if (t.again)
      run_parts(k);
    else if (t.cleans_up)
      k->one.clean_up(number_in_libomp(nullptr), k);
    return end_at_once(*m, t);
  }
  PASS(__kmpc_omp_task_complete_if0, void, (ident*, int, kmpc_task*), (place, thread, k));
}

KILTER_EXPORTED void __kmpc_taskloop(ident* place, int thread, kmpc_task* k, int may_wait,
                                     std::uint64_t* first, std::uint64_t* last, std::int64_t by,
                                     int no_group, int how, std::uint64_t number,
                                     copy_function* copy) {
  if (member* const m = kmpc_member())
    return taskloop(*m, k, {first, last, by},
                    {may_wait != 0, no_group != 0, how, number, false, copy});
  PASS(__kmpc_taskloop, void,
       (ident*, int, kmpc_task*, int, std::uint64_t*, std::uint64_t*, std::int64_t, int, int,
        std::uint64_t, copy_function*),
       (place, thread, k, may_wait, first, last, by, no_group, how, number, copy));
}
KILTER_EXPORTED void __kmpc_taskloop_5(ident* place, int thread, kmpc_task* k, int may_wait,
                                       std::uint64_t* first, std::uint64_t* last, std::int64_t by,
                                       int no_group, int how, std::uint64_t number, int strict,
                                       copy_function* copy) {
  if (member* const m = kmpc_member())
    return taskloop(*m, k, {first, last, by},
                    {may_wait != 0, no_group != 0, how, number, strict != 0, copy});
  PASS(__kmpc_taskloop_5, void,
       (ident*, int, kmpc_task*, int, std::uint64_t*, std::uint64_t*, std::int64_t, int, int,
        std::uint64_t, int, copy_function*),
       (place, thread, k, may_wait, first, last, by, no_group, how, number, strict, copy));
}

// ---- who waits ----------------------------------------------------------------------------------

KILTER_EXPORTED int __kmpc_omp_taskwait(ident* place, int thread) {
  if (member* const m = MEMBER(__kmpc_omp_taskwait)) {
    wait_for_children(*m);
    return 0;
  }
  PASS(__kmpc_omp_taskwait, int, (ident*, int), (place, thread));
}
KILTER_EXPORTED int __kmpc_omp_taskyield(ident* place, int thread, int end) {
  if (member* const m = kmpc_member()) {
    run_another(*m);
    return 0;
  }
  PASS(__kmpc_omp_taskyield, int, (ident*, int, int), (place, thread, end));
}
KILTER_EXPORTED void __kmpc_omp_wait_deps(ident* place, int thread, int count, const depend* list,
                                          int more, const depend* list_of_more) {
  const depends uses{count, list, more, list_of_more};
  if (member* const m = MEMBER(__kmpc_omp_wait_deps)) return wait_in_order(*m, uses);
  PASS(__kmpc_omp_wait_deps, void, (ident*, int, int, const depend*, int, const depend*),
       (place, thread, count, list, more, list_of_more));
}
KILTER_EXPORTED void __kmpc_omp_taskwait_deps_51(ident* place, int thread, int count,
                                                 const depend* list, int more,
                                                 const depend* list_of_more, int no_wait) {
  const depends uses{count, list, more, list_of_more};
  if (member* const m = MEMBER(__kmpc_omp_wait_deps)) return wait_in_order(*m, uses);
  PASS(__kmpc_omp_taskwait_deps_51, void,
       (ident*, int, int, const depend*, int, const depend*, int),
       (place, thread, count, list, more, list_of_more, no_wait));
}

KILTER_EXPORTED void __kmpc_taskgroup(ident* place, int thread) {
  if (member* const m = MEMBER(__kmpc_taskgroup)) return begin_group(*m);
  PASS(__kmpc_taskgroup, void, (ident*, int), (place, thread));
}
KILTER_EXPORTED void __kmpc_end_taskgroup(ident* place, int thread) {
  if (member* const m = kmpc_member()) return end_group_and_sums(*m);
  PASS(__kmpc_end_taskgroup, void, (ident*, int), (place, thread));
}

// ---- tasks whose end others tell, also threads of no team ---------------------------------------

KILTER_EXPORTED void* __kmpc_task_allow_completion_event(ident* place, int thread, kmpc_task* k) {
  if (member* const m = kmpc_member()) {
    detach(*m, of_ours(k));
    return handle_of_event(of_ours(k));
  }
  PASS(__kmpc_task_allow_completion_event, void*, (ident*, int, kmpc_task*), (place, thread, k));
}
KILTER_EXPORTED void __kmpc_proxy_task_completed(int thread, kmpc_task* k) {
  if (task* const t = ours_if_it_is(k)) return fulfill(*t);
  PASS(__kmpc_proxy_task_completed, void, (int, kmpc_task*), (thread, k));
}
KILTER_EXPORTED void __kmpc_proxy_task_completed_ooo(kmpc_task* k) {
  if (task* const t = ours_if_it_is(k)) return fulfill(*t);
  PASS(__kmpc_proxy_task_completed_ooo, void, (kmpc_task*), (k));
}

// Nothing is cancelled unless the user asks for it, and then all is libomp's.
#define CANCEL(name)                                             \
  KILTER_EXPORTED int name(ident* place, int thread, int what) { \
    if (kmpc_member()) return 0;                                 \
    PASS(name, int, (ident*, int, int), (place, thread, what));  \
  }
CANCEL(__kmpc_cancel)
CANCEL(__kmpc_cancellationpoint)
#undef CANCEL
