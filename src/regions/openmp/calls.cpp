// libkilter_openmp.so: what it takes the place of in libgomp. A region that turned out to be a loop with shares that are settled beforehand, or one whose pieces go to
// whoever comes, runs on threads of ours; the rest is passed on. docs/openmp.md.

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "balance/preload/guest.hpp"
#include "regions/openmp/clock.hpp"
#include "regions/openmp/constructs.hpp"
#include "regions/openmp/explain.hpp"
#include "regions/openmp/pool.hpp"
#include "regions/openmp/region.hpp"
#include "regions/openmp/shares.hpp"

#if !defined(__x86_64__)
#error "the calls that are passed on are written for x86-64"
#endif

namespace kilter::regions {

namespace {

using balance::preload::tell;

enum class mode : std::uint8_t { pass_on, learn, all };
mode how = mode::pass_on;
constexpr std::uint32_t watched_before = 2;   // executions under libgomp before a region is trusted

#define NAME(name) #name,
constexpr const char* team_call_names[] = {KILTER_TEAM_CALLS(NAME)};
#undef NAME
constexpr unsigned team_calls = sizeof team_call_names / sizeof *team_call_names;
void* real_team_calls[team_calls];

__attribute__((tls_model("initial-exec"))) thread_local region* watching = nullptr;   // this thread runs a member of it for libgomp

/// The libgomp of the program; one that was opened for a module alone, as Python's packages do, is found among what is loaded.
void* libgomp() noexcept {
  static void* found = nullptr;
  if (!found)
    dl_iterate_phdr([](dl_phdr_info* info, size_t, void*) {
      if (!info->dlpi_name || !strstr(info->dlpi_name, "libgomp")) return 0;
      found = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
      return found ? 1 : 0;
    }, nullptr);
  return found;
}

void* real(const char* name) noexcept {
  void* at = dlsym(RTLD_NEXT, name);
  if (!at && libgomp()) at = dlsym(libgomp(), name);
  if (!at) {
    tell("%s calls %s, and no loaded library has it", balance::preload::name_of_program(), name);
    abort();
  }
  return at;
}

template <class Function>
Function* real_of(Function*& kept, const char* name) noexcept {
  if (!kept) {
    void* const at = real(name);
    memcpy(&kept, &at, sizeof kept);
  }
  return kept;
}
#define REAL(name) real_of(real_##name, #name)

int (*real_omp_get_max_threads)();

// ---- a region -------------------------------------------------------------------------------------------------------------------------

struct watched_call {
  body* run;
  void* data;
  region* what;
};

void watched_member(void* call) {
  const watched_call& c = *static_cast<watched_call*>(call);
  region* const around = watching;
  watching = c.what;
  c.run(c.data);
  watching = around;
}

/// Of a combined `parallel for`.
struct combined_loop {
  schedule how;
  std::uint64_t chunk, first, step, count;
};
void prepare_loop(team& t, const void* loop) {
  const combined_loop& l = *static_cast<const combined_loop*>(loop);
  set_up_loop(t.first_loop, l.how, l.chunk, l.first, l.step, l.count, t.members);
  t.folds_loop = true;
}

/// A region inside of a member that runs on a thread of ours: it has one member.
void nested(body* run, void* data, const combined_loop* loop) noexcept {
  team inner;
  inner.reset(run, data, 1, current);
  if (loop) prepare_loop(inner, loop);
  run_member(inner, 0);
  inner.drop_shares();
}

/// True: it ran here. `passing` runs it under libgomp, with another function in place of the program's.
template <class Pass>
void parallel(body* run, void* data, unsigned wanted, const combined_loop* loop, const Pass& pass) noexcept {
  if (current) return nested(run, data, loop);
  if (how == mode::pass_on) return pass(run, data);
  if (watching) {
    leave_to_libgomp(*watching, reason::nested);
    return pass(run, data);
  }
  region* const r = region_of(run);
  if (!r) return pass(run, data);
  const std::int64_t begin = explains() ? now_ns() : 0;
  const auto members = static_cast<std::uint32_t>(wanted ? wanted : REAL(omp_get_max_threads)());
  const bool trusted = how == mode::all || r->watched.load(std::memory_order_relaxed) >= watched_before;
  if (members > 1 && trusted && (how == mode::all || (r->why.load(std::memory_order_relaxed) == reason::none && members <= pool_size())) && claim_pool()) {
    run_on_pool(run, data, members, loop ? prepare_loop : nullptr, loop);
    if (work_surprised()) leave_to_libgomp(*r, reason::team_call, surprised_by());
    release_pool();
    r->on_pool.fetch_add(1, std::memory_order_relaxed);
  } else if (!trusted && r->why.load(std::memory_order_relaxed) == reason::none) {
    watched_call c{run, data, r};
    pass(watched_member, &c);
    if (members > 1) r->watched.fetch_add(1, std::memory_order_relaxed);
  } else {
    pass(run, data);
  }
  if (explains()) {
    r->times.fetch_add(1, std::memory_order_relaxed);
    r->members.store(members, std::memory_order_relaxed);
    r->ns.fetch_add(static_cast<std::uint64_t>(now_ns() - begin), std::memory_order_relaxed);
  }
}

// ---- at load --------------------------------------------------------------------------------------------------------------------------

bool user_has(const char* name) noexcept {
  const char* const value = getenv(name);
  return value && *value;
}

/// What the user sets and threads of ours would not heed.
constexpr const char* of_their_threads[] = {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "OMP_STACKSIZE", "GOMP_STACKSIZE", "OMP_THREAD_LIMIT", "OMP_CANCELLATION", "OMP_TOOL_LIBRARIES", "GOMP_SPINCOUNT"};

__attribute__((constructor)) void choose_mode() {
  const char* const wanted = getenv("KILTER_OPENMP");
  if (!wanted || !*wanted || !strcmp(wanted, "0")) return;
  for (const char* name : of_their_threads)
    if (user_has(name)) return explain_nothing_done(name);
  // libgomp's threads would spin on beside ours after the executions that they have watched.
  if (const char* const waiting = getenv("OMP_WAIT_POLICY"); waiting && !strcasecmp(waiting, "active")) return explain_nothing_done("OMP_WAIT_POLICY=active");
  how = !strcmp(wanted, "all") ? mode::all : mode::learn;
  begin_explaining();
}

}  // namespace

const char* team_call_name(unsigned call) noexcept { return call < team_calls ? team_call_names[call] : "?"; }

run_time_schedule schedule_at_run_time() noexcept {
  static void (*real_omp_get_schedule)(int*, int*);
  int kind = 0, chunk = 0;
  REAL(omp_get_schedule)(&kind, &chunk);
  const auto s = static_cast<schedule>(static_cast<unsigned>(kind) & 0x7fffffffu);
  return {s, s == schedule::fixed || s == schedule::automatic ? static_cast<std::uint64_t>(chunk > 0 && s == schedule::fixed ? chunk : 0) : static_cast<std::uint64_t>(chunk > 0 ? chunk : 1)};
}

/// Where a call of a team goes on, with the arguments that it has.
extern "C" __attribute__((visibility("hidden"))) void* kilter_team_call(unsigned call) noexcept {
  if (current) {
    if (is_for_libgomp(call)) note_surprise(call);
    return ours(call);
  }
  if (watching && is_for_libgomp(call)) leave_to_libgomp(*watching, reason::team_call, call);
  if (!real_team_calls[call]) real_team_calls[call] = real(team_call_names[call]);
  return real_team_calls[call];
}

}  // namespace kilter::regions

// Each keeps all of its arguments, whatever they are, and goes on where kilter_team_call says.
#define PASS(name)                                                                                       \
  asm(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n"                                 \
      "  endbr64\n  push %rdi\n  push %rsi\n  push %rdx\n  push %rcx\n  push %r8\n  push %r9\n  sub $8, %rsp\n" \
      "  mov $kilter_number_of_" #name ", %edi\n  call kilter_team_call\n  mov %rax, %r11\n"               \
      "  add $8, %rsp\n  pop %r9\n  pop %r8\n  pop %rcx\n  pop %rdx\n  pop %rsi\n  pop %rdi\n  jmp *%r11\n"   \
      ".size " #name ", .-" #name "\n");
asm(".set kilter_next_number, 0\n");
#define NUMBER(name) asm(".set kilter_number_of_" #name ", kilter_next_number\n.set kilter_next_number, kilter_next_number + 1\n");
KILTER_TEAM_CALLS(NUMBER)
KILTER_TEAM_CALLS(PASS)
#undef NUMBER
#undef PASS

using namespace kilter::regions;

KILTER_EXPORTED void GOMP_parallel(body* run, void* data, unsigned members, unsigned flags) {
  static void (*real_GOMP_parallel)(body*, void*, unsigned, unsigned);
  parallel(run, data, members, nullptr, [&](body* f, void* d) { REAL(GOMP_parallel)(f, d, members, flags); });
}

#define LOOP(name, way)                                                                                                                    \
  KILTER_EXPORTED void name(body* run, void* data, unsigned members, long first, long end, long by, long chunk, unsigned flags) {           \
    static void (*real_##name)(body*, void*, unsigned, long, long, long, long, unsigned);                                                   \
    const combined_loop l{way, static_cast<std::uint64_t>(chunk), static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(by), count_of(first, end, by)}; \
    parallel(run, data, members, &l, [&](body* f, void* d) { REAL(name)(f, d, members, first, end, by, chunk, flags); });                    \
  }
LOOP(GOMP_parallel_loop_static, schedule::fixed)
LOOP(GOMP_parallel_loop_dynamic, schedule::dynamic)
LOOP(GOMP_parallel_loop_guided, schedule::guided)
LOOP(GOMP_parallel_loop_nonmonotonic_dynamic, schedule::dynamic)
LOOP(GOMP_parallel_loop_nonmonotonic_guided, schedule::guided)
#undef LOOP

#define RUN_TIME_LOOP(name)                                                                                                               \
  KILTER_EXPORTED void name(body* run, void* data, unsigned members, long first, long end, long by, unsigned flags) {                      \
    static void (*real_##name)(body*, void*, unsigned, long, long, long, unsigned);                                                         \
    const run_time_schedule s = schedule_at_run_time();                                                                                     \
    const combined_loop l{s.how, s.chunk, static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(by), count_of(first, end, by)};    \
    parallel(run, data, members, &l, [&](body* f, void* d) { REAL(name)(f, d, members, first, end, by, flags); });                           \
  }
RUN_TIME_LOOP(GOMP_parallel_loop_runtime)
RUN_TIME_LOOP(GOMP_parallel_loop_nonmonotonic_runtime)
RUN_TIME_LOOP(GOMP_parallel_loop_maybe_nonmonotonic_runtime)
#undef RUN_TIME_LOOP

KILTER_EXPORTED void GOMP_parallel_sections(body* run, void* data, unsigned members, unsigned count, unsigned flags) {
  static void (*real_GOMP_parallel_sections)(body*, void*, unsigned, unsigned, unsigned);
  const combined_loop l{schedule::dynamic, 1, 1, 1, count};
  parallel(run, data, members, &l, [&](body* f, void* d) { REAL(GOMP_parallel_sections)(f, d, members, count, flags); });
}

#define NEXT(name)                                                                                    \
  KILTER_EXPORTED bool name(long* begin, long* end) {                                                 \
    static bool (*real_##name)(long*, long*);                                                         \
    if (current) return loop_next(reinterpret_cast<std::uint64_t*>(begin), reinterpret_cast<std::uint64_t*>(end)); \
    return REAL(name)(begin, end);                                                                    \
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
  if (current) return loop_end_nowait();
  REAL(GOMP_loop_end_nowait)();
}

// ---- questions ------------------------------------------------------------------------------------------------------------------------

namespace {

/// The member of the team at a level, counted from the outermost, on this thread's way there; null if there is none.
const member* member_at(int level) noexcept {
  const member* m = current;
  while (m && static_cast<int>(m->of->level) > level) m = m->of->parent;
  return m && static_cast<int>(m->of->level) == level ? m : nullptr;
}
int number() noexcept { return static_cast<int>(current->number); }
int members() noexcept { return static_cast<int>(current->of->members); }
int level() noexcept { return static_cast<int>(current->of->level); }
int active_levels() noexcept {
  int active = 0;
  for (const member* m = current; m; m = m->of->parent) active += m->of->members > 1 ? 1 : 0;
  return active;
}
int is_active() noexcept { return active_levels() > 0 ? 1 : 0; }
int ancestor(int l) noexcept { return l == 0 ? 0 : member_at(l) ? static_cast<int>(member_at(l)->number) : -1; }
int size_at(int l) noexcept { return l == 0 ? 1 : member_at(l) ? static_cast<int>(member_at(l)->of->members) : -1; }

}  // namespace

// Fortran's name has another underscore, and its arguments come by reference.
#define QUESTION(name, answer)               \
  KILTER_EXPORTED int name() {               \
    static int (*real_##name)();             \
    return current ? answer() : REAL(name)(); \
  }                                          \
  KILTER_EXPORTED int name##_() { return name(); }
QUESTION(omp_get_thread_num, number)
QUESTION(omp_get_num_threads, members)
QUESTION(omp_in_parallel, is_active)
QUESTION(omp_get_level, level)
QUESTION(omp_get_active_level, active_levels)
#undef QUESTION

#define QUESTION_AT(name, answer)                          \
  KILTER_EXPORTED int name(int level) {                    \
    static int (*real_##name)(int);                        \
    return current ? answer(level) : REAL(name)(level);    \
  }                                                        \
  KILTER_EXPORTED int name##_(const int* level) { return name(*level); } \
  KILTER_EXPORTED int name##_8_(const long* level) { return name(static_cast<int>(*level)); }
QUESTION_AT(omp_get_ancestor_thread_num, ancestor)
QUESTION_AT(omp_get_team_size, size_at)
#undef QUESTION_AT
