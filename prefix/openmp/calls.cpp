// libkilter_openmp.so: what it takes the place of in libgomp. A region that turned out to be a loop
// with shares that are settled beforehand, or one whose pieces go to whoever comes, runs on threads
// of ours; the rest is passed on. docs/inside/openmp.md.

#include "guest/guest.hpp"
#include "openmp/account.hpp"
#include "openmp/constructs.hpp"
#include "openmp/go_on.hpp"
#include "openmp/kmpc.hpp"
#include "openmp/library_waits.hpp"
#include "openmp/parallel.hpp"
#include "openmp/shares.hpp"
#include "regions/libgomp.hpp"

namespace kilter::regions {

namespace {

#define NAME(name) #name,
constexpr const char* team_call_names[] = {KILTER_TEAM_CALLS(NAME)};
#undef NAME
constexpr unsigned team_calls = sizeof team_call_names / sizeof *team_call_names;
void* real_team_calls[team_calls];

#define REAL(name) real_of(runtime::libgomp, real_##name, #name)

// ---- a region -----------------------------------------------------------------------------------

/// Of a combined `parallel for`.
struct combined_loop {
  schedule how;
  std::uint64_t chunk, first, step, count;
};
void prepare_loop(team& t, const void* loop) {
  const combined_loop& l = *static_cast<const combined_loop*>(loop);
  set_up_loop(t.first_loop, l.how, l.chunk, l.first, l.step, l.count);
  t.folds_loop = true;
}

template <class Pass>
void parallel(body* run, void* data, unsigned wanted, const combined_loop* loop,
              const Pass& pass) noexcept {
  run_region<runtime::libgomp>({.run = run,
                                .data = data,
                                .function = run,
                                .wanted = wanted,
                                .prepare = loop ? prepare_loop : nullptr,
                                .with = loop},
                               [&](body* f, void* d, passed_as) { pass(f, d); });
}

}  // namespace

const char* team_call_name(unsigned call) noexcept {
  return call < team_calls ? team_call_names[call] : kmpc_call_name(call - first_kmpc_call);
}

run_time_schedule schedule_at_run_time() noexcept {
  static void (*real_omp_get_schedule)(int*, int*);
  int kind = 0, chunk = 0;
  if (const member* const m = member_for(runtime::libgomp)) {
    kind = m->settings.schedule;
    chunk = m->settings.chunk;
  } else {
    REAL(omp_get_schedule)(&kind, &chunk);
  }
  const auto s = static_cast<schedule>(static_cast<unsigned>(kind) & 0x7fffffffu);
  return {s, s == schedule::fixed || s == schedule::automatic
                 ? static_cast<std::uint64_t>(chunk > 0 && s == schedule::fixed ? chunk : 0)
                 : static_cast<std::uint64_t>(chunk > 0 ? chunk : 1)};
}

/// Where a call of a team goes on, with the arguments that it has.
extern "C" __attribute__((visibility("hidden"))) void* kilter_team_call(unsigned call) noexcept {
  if (member_for(runtime::libgomp)) {
    note_need(need_of(call), call);
    return ours(call);
  }
  if (watching) {
    note_need(*watching, need_of(call), call);
    if (is_of_tasks(call)) watching->makes_tasks.store(true, std::memory_order_relaxed);
  }
  library_goes_on();
  if (!real_team_calls[call]) real_team_calls[call] = real(runtime::libgomp, team_call_names[call]);
  return real_team_calls[call];
}

}  // namespace kilter::regions

asm(".set kilter_next_number, 0\n");
#define NUMBER(name)                 \
  asm(".set kilter_number_of_" #name \
      ", kilter_next_number\n.set kilter_next_number, kilter_next_number + 1\n");
KILTER_TEAM_CALLS(NUMBER)
#undef NUMBER
#define GO_ON(name) KILTER_GO_ON(name, "kilter_number_of_" #name, "kilter_team_call")
KILTER_TEAM_CALLS(GO_ON)
#undef GO_ON

using namespace kilter::regions;

KILTER_EXPORTED void GOMP_parallel(body* run, void* data, unsigned members, unsigned flags) {
  static void (*real_GOMP_parallel)(body*, void*, unsigned, unsigned);
  parallel(run, data, members, nullptr, [&](body* f, void* d) {
    REAL(GOMP_parallel)(f, d, members, flags);
  });
}

#define LOOP(name, way)                                                                      \
  KILTER_EXPORTED void name(body* run, void* data, unsigned members, long first, long end,   \
                            long by, long chunk, unsigned flags) {                           \
    static void (*real_##name)(body*, void*, unsigned, long, long, long, long, unsigned);    \
    const combined_loop l{way, static_cast<std::uint64_t>(chunk),                            \
                          static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(by), \
                          count_of(first, end, by)};                                         \
    parallel(run, data, members, &l, [&](body* f, void* d) {                                 \
      REAL(name)(f, d, members, first, end, by, chunk, flags);                               \
    });                                                                                      \
  }
LOOP(GOMP_parallel_loop_static, schedule::fixed)
LOOP(GOMP_parallel_loop_dynamic, schedule::dynamic)
LOOP(GOMP_parallel_loop_guided, schedule::guided)
LOOP(GOMP_parallel_loop_nonmonotonic_dynamic, schedule::dynamic)
LOOP(GOMP_parallel_loop_nonmonotonic_guided, schedule::guided)
#undef LOOP

#define RUN_TIME_LOOP(name)                                                                \
  KILTER_EXPORTED void name(body* run, void* data, unsigned members, long first, long end, \
                            long by, unsigned flags) {                                     \
    static void (*real_##name)(body*, void*, unsigned, long, long, long, unsigned);        \
    const run_time_schedule s = schedule_at_run_time();                                    \
    const combined_loop l{s.how, s.chunk, static_cast<std::uint64_t>(first),               \
                          static_cast<std::uint64_t>(by), count_of(first, end, by)};       \
    parallel(run, data, members, &l, [&](body* f, void* d) {                               \
      REAL(name)(f, d, members, first, end, by, flags);                                    \
    });                                                                                    \
  }
RUN_TIME_LOOP(GOMP_parallel_loop_runtime)
RUN_TIME_LOOP(GOMP_parallel_loop_nonmonotonic_runtime)
RUN_TIME_LOOP(GOMP_parallel_loop_maybe_nonmonotonic_runtime)
#undef RUN_TIME_LOOP

KILTER_EXPORTED void GOMP_parallel_sections(body* run, void* data, unsigned members, unsigned count,
                                            unsigned flags) {
  static void (*real_GOMP_parallel_sections)(body*, void*, unsigned, unsigned, unsigned);
  const combined_loop l{schedule::dynamic, 1, 1, 1, count};
  parallel(run, data, members, &l, [&](body* f, void* d) {
    REAL(GOMP_parallel_sections)(f, d, members, count, flags);
  });
}

#define NEXT(name)                                              \
  KILTER_EXPORTED bool name(long* begin, long* end) {           \
    static bool (*real_##name)(long*, long*);                   \
    if (member_for(runtime::libgomp))                           \
      return loop_next(reinterpret_cast<std::uint64_t*>(begin), \
                       reinterpret_cast<std::uint64_t*>(end));  \
    return REAL(name)(begin, end);                              \
  }
NEXT(GOMP_loop_dynamic_next)
NEXT(GOMP_loop_guided_next)
NEXT(GOMP_loop_runtime_next)
NEXT(GOMP_loop_nonmonotonic_dynamic_next)
NEXT(GOMP_loop_nonmonotonic_guided_next)
NEXT(GOMP_loop_nonmonotonic_runtime_next)
NEXT(GOMP_loop_maybe_nonmonotonic_runtime_next)
#undef NEXT

KILTER_EXPORTED void GOMP_loop_end_nowait() {
  static void (*real_GOMP_loop_end_nowait)();
  if (member_for(runtime::libgomp)) return loop_end_nowait();
  REAL(GOMP_loop_end_nowait)();
}
