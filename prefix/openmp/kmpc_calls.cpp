// What libkilter_openmp.so takes the place of in libomp: parallel regions of programs that clang
// compiled, and what they ask for in them. A region runs on threads of ours once it has shown that
// its members do not wait for one another (parallel.hpp). Each of our threads is known to libomp,
// so whatever is not here may be asked of libomp by a member: locks, critical, atomic, memory.

#include <sched.h>
#include <stdarg.h>

#include "guest/guest.hpp"
#include "openmp/go_on.hpp"
#include "openmp/kmpc.hpp"
#include "openmp/kmpc_shares.hpp"
#include "openmp/library_waits.hpp"
#include "openmp/parallel.hpp"

namespace kilter::regions {

namespace {

#define NAME(name) #name,
constexpr const char* call_names[] = {KILTER_KMPC_TEAM_CALLS(NAME) KILTER_KMPC_CALLS_FOR_LIBOMP(
    NAME) KILTER_KMPC_PASSED_CALLS(NAME) "__kmpc_push_proc_bind"};
#undef NAME
constexpr std::uint32_t call_count = sizeof call_names / sizeof *call_names;
void* real_calls[call_count];

#define REAL(name) real_of(runtime::libomp, real_##name, #name)

// ---- a region -----------------------------------------------------------------------------------

extern "C" __attribute__((visibility("hidden"))) void kilter_call_microtask(
    microtask*, std::int32_t* thread, std::int32_t* number, long count, void* const* captured);

struct forked {
  ident* place;
  microtask* function;
  long count;
  void** captured;  // at least four can be read
};

/// What this thread has said of the region that comes next.
struct announced {
  int threads = 0;
  bool bound = false;
};
constinit __attribute__((tls_model("initial-exec"))) thread_local announced next_region;
constinit __attribute__((tls_model("initial-exec"))) thread_local bool known_to_libomp = false;

announced take_announced() noexcept {
  const announced said = next_region;
  next_region = {};
  return said;
}

std::atomic<int> in_teams{0};       // threads that run `teams`, whose regions are libomp's
std::atomic<bool> have_run{false};  // members of ours
std::atomic<std::uint32_t> left_beside{0};
// executions of other regions, after each of which libomp's threads spin beside ours
constexpr std::uint32_t few = 8;

void run_microtask(void* data) {
  static int (*real_omp_get_thread_num)();
  const forked& f = *static_cast<const forked*>(data);
  if (current && !have_run.load(std::memory_order_relaxed))
    have_run.store(true, std::memory_order_relaxed);
  std::int32_t thread = number_in_libomp(f.place),
               number = current ? static_cast<std::int32_t>(current->number)
                                : REAL(omp_get_thread_num)();
  kilter_call_microtask(f.function, &thread, &number, f.count, f.captured);
}

struct under_libomp {
  body* run;
  void* data;
};
void run_under_libomp(std::int32_t*, std::int32_t*, under_libomp* what) { what->run(what->data); }

/// While it lives, this thread's teams sleep at once after a region: they would spin for 200 ms
/// beside ours.
class no_spinning {
 public:
  explicit no_spinning(bool wanted) noexcept : before_(wanted ? blocktime() : 0) {
    if (before_ > 0) set(0);
  }
  ~no_spinning() {
    if (before_ > 0) set(before_);
  }
  no_spinning(const no_spinning&) = delete;
  no_spinning& operator=(const no_spinning&) = delete;

  static int blocktime() noexcept {
    static int (*real_kmp_get_blocktime)();
    return REAL(kmp_get_blocktime)();
  }

 private:
  static void set(int ms) noexcept {
    static void (*real_kmp_set_blocktime)(int);
    REAL(kmp_set_blocktime)(ms);
  }
  const int before_;
};

void pass(ident* place, const announced& said, body* run, void* data, passed_as as) noexcept {
  static void (*real___kmpc_fork_call)(ident*, std::int32_t, microtask*, ...);
  static void (*real___kmpc_push_num_threads)(ident*, std::int32_t, std::int32_t);
  const no_spinning sleep(as == passed_as::watched ||
                          (as == passed_as::left && library_sleeps(runtime::libomp)));
  if (as == passed_as::left && have_run.load(std::memory_order_relaxed) &&
      no_spinning::blocktime() > 0)
    left_beside.fetch_add(1, std::memory_order_relaxed);
  if (said.threads) REAL(__kmpc_push_num_threads)(place, number_in_libomp(place), said.threads);
  under_libomp what{run, data};
  REAL(__kmpc_fork_call)(place, 1, reinterpret_cast<microtask*>(run_under_libomp), &what);
}

/// A variable that only libomp knows counts from the first region of libomp on.
void tell_once_what_is_set() noexcept {
  static std::atomic<bool> told{false};
  const char* const variable = set_against(runtime::libomp);
  if (variable && !told.exchange(true)) account_for_nothing(variable);
}

void fork(forked& f, const announced& said) noexcept {
  const auto passing = [&](body* run, void* data, passed_as as) {
    pass(f.place, said, run, data, as);
  };
  if (!current && (in_teams.load(std::memory_order_relaxed) != 0 ||
                   mode_of(runtime::libomp) == mode::pass_on)) {
    tell_once_what_is_set();
    return passing(run_microtask, &f, passed_as::as_it_is);
  }
  body* const function = reinterpret_cast<body*>(reinterpret_cast<void*>(f.function));
  const bool spinning =
      left_beside.load(std::memory_order_relaxed) > few && mode_of(runtime::libomp) != mode::all;
  if ((said.bound || spinning) && !current)
    if (region* const r = region_of(function, runtime::libomp)) {
      if (said.bound)
        note_need(*r, team_need::library, first_kmpc_call + call_count - 1);
      else
        leave_to_library(*r, reason::others_spin);
    }
  run_region<runtime::libomp>({.run = run_microtask,
                               .data = &f,
                               .function = function,
                               .wanted = static_cast<unsigned>(said.threads > 0 ? said.threads : 0),
                               .prepare = nullptr,
                               .with = nullptr},
                              passing);
}

}  // namespace

/// libomp gives a number, and then lets the thread run on every CPU of the process: ours stay where
/// they are.
std::int32_t number_in_libomp(ident* place) noexcept {
  static std::int32_t (*real___kmpc_global_thread_num)(ident*);
  if (!current || known_to_libomp) return REAL(__kmpc_global_thread_num)(place);
  known_to_libomp = true;
  cpu_set_t mask;
  const bool masked = sched_getaffinity(0, sizeof mask, &mask) == 0;
  const std::int32_t number = REAL(__kmpc_global_thread_num)(place);
  if (masked) sched_setaffinity(0, sizeof mask, &mask);
  return number;
}

const char* kmpc_call_name(std::uint32_t call) noexcept {
  return call < call_count ? call_names[call] : "?";
}

member* kmpc_member(kmpc_call call) noexcept {
  const std::uint32_t number = first_kmpc_call + static_cast<std::uint32_t>(call);
  const team_need need =
      call < kmpc_call::number_of___kmpc_doacross_init ? team_need::order : team_need::library;
  if (member* const m = kmpc_member()) {
    if (m->of->members > 1) note_need(need, number);
    return m;
  }
  if (watching) {
    note_need(*watching, need, number);
    if (call == kmpc_call::number_of___kmpc_omp_task_alloc)
      watching->makes_tasks.store(true, std::memory_order_relaxed);
  }
  return nullptr;
}

extern "C" __attribute__((visibility("hidden"))) void* kilter_kmpc_call(
    std::uint32_t call) noexcept {
  static_cast<void>(kmpc_member(static_cast<kmpc_call>(call)));
  if (!real_calls[call]) real_calls[call] = real(runtime::libomp, call_names[call]);
  return real_calls[call];
}

}  // namespace kilter::regions

// Four of what was captured go into registers, the rest onto the stack.
asm(R"(
.text
.hidden kilter_call_microtask
.globl kilter_call_microtask
.type kilter_call_microtask, @function
kilter_call_microtask:
  .cfi_startproc
  endbr64
  push %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  mov %rsp, %rbp
  .cfi_def_cfa_register %rbp
  mov %rdi, %r11
  mov %rsi, %rdi
  mov %rdx, %rsi
  mov %r8, %r10
  sub $4, %rcx
  jle 2f
  mov %rcx, %rdx
  and $1, %edx
  shl $3, %rdx
  sub %rdx, %rsp
1:
  push 24(%r10,%rcx,8)
  dec %rcx
  jnz 1b
2:
  mov (%r10), %rdx
  mov 8(%r10), %rcx
  mov 16(%r10), %r8
  mov 24(%r10), %r9
  xor %eax, %eax
  call *%r11
  leave
  .cfi_def_cfa %rsp, 8
  ret
  .cfi_endproc
.size kilter_call_microtask, .-kilter_call_microtask
)");

asm(".set kilter_next_number, 0\n");
#define NUMBER(name)                 \
  asm(".set kilter_number_of_" #name \
      ", kilter_next_number\n.set kilter_next_number, kilter_next_number + 1\n");
KILTER_KMPC_TEAM_CALLS(NUMBER)
KILTER_KMPC_CALLS_FOR_LIBOMP(NUMBER)
KILTER_KMPC_PASSED_CALLS(NUMBER)
#undef NUMBER
#define GO_ON(name) KILTER_GO_ON(name, "kilter_number_of_" #name, "kilter_kmpc_call")
KILTER_KMPC_PASSED_CALLS(GO_ON)
#undef GO_ON

using namespace kilter::regions;

#define CAPTURED(count, last)                                                            \
  void** const captured = static_cast<void**>(                                           \
      __builtin_alloca(sizeof(void*) * (count > 4 ? static_cast<unsigned>(count) : 4))); \
  {                                                                                      \
    va_list all;                                                                         \
    va_start(all, last);                                                                 \
    for (int i = 0; i < count; ++i) captured[i] = va_arg(all, void*);                    \
    va_end(all);                                                                         \
  }

KILTER_EXPORTED void __kmpc_fork_call(ident* place, std::int32_t count, microtask* function, ...) {
  CAPTURED(count, function)
  forked f{.place = place, .function = function, .count = count, .captured = captured};
  fork(f, take_announced());
}

namespace {
struct teams_call {
  const forked* what;
};
void run_teams(std::int32_t* thread, std::int32_t* number, teams_call* call) {
  kilter_call_microtask(call->what->function, thread, number, call->what->count,
                        call->what->captured);
}
}  // namespace

/// A league is libomp's, with all regions in it, also where a member of ours makes it.
KILTER_EXPORTED void __kmpc_fork_teams(ident* place, std::int32_t count, microtask* function, ...) {
  static void (*real___kmpc_fork_teams)(ident*, std::int32_t, microtask*, ...);
  CAPTURED(count, function)
  const forked f{.place = place, .function = function, .count = count, .captured = captured};
  teams_call call{&f};
  if (watching) leave_to_library(*watching, reason::nested);
  member* const mine = current;
  current = nullptr;
  in_teams.fetch_add(1, std::memory_order_relaxed);
  REAL(__kmpc_fork_teams)(place, 1, reinterpret_cast<microtask*>(run_teams), &call);
  in_teams.fetch_sub(1, std::memory_order_relaxed);
  current = mine;
}

KILTER_EXPORTED void __kmpc_push_num_threads(ident*, std::int32_t, std::int32_t threads) {
  next_region.threads = threads;
}

KILTER_EXPORTED void __kmpc_push_proc_bind(ident* place, std::int32_t thread, std::int32_t bind) {
  static void (*real___kmpc_push_proc_bind)(ident*, std::int32_t, std::int32_t);
  if (current) return;
  next_region.bound = true;
  REAL(__kmpc_push_proc_bind)(place, thread, bind);
}

// A member of a folded team may have come to another thread since it was told the number of its
// own.
KILTER_EXPORTED void __kmpc_critical(ident* place, std::int32_t thread, void* lock) {
  static void (*real___kmpc_critical)(ident*, std::int32_t, void*);
  REAL(__kmpc_critical)(place, kmpc_member() ? number_in_libomp(place) : thread, lock);
}
KILTER_EXPORTED void __kmpc_critical_with_hint(ident* place, std::int32_t thread, void* lock,
                                               std::uint32_t hint) {
  static void (*real___kmpc_critical_with_hint)(ident*, std::int32_t, void*, std::uint32_t);
  REAL(__kmpc_critical_with_hint)
  (place, kmpc_member() ? number_in_libomp(place) : thread, lock, hint);
}
KILTER_EXPORTED void __kmpc_end_critical(ident* place, std::int32_t thread, void* lock) {
  static void (*real___kmpc_end_critical)(ident*, std::int32_t, void*);
  REAL(__kmpc_end_critical)(place, kmpc_member() ? number_in_libomp(place) : thread, lock);
}

KILTER_EXPORTED void* __kmpc_alloc(std::int32_t thread, std::size_t bytes, void* from) {
  static void* (*real___kmpc_alloc)(std::int32_t, std::size_t, void*);
  return REAL(__kmpc_alloc)(kmpc_member() ? number_in_libomp(nullptr) : thread, bytes, from);
}
KILTER_EXPORTED void* __kmpc_aligned_alloc(std::int32_t thread, std::size_t align,
                                           std::size_t bytes, void* from) {
  static void* (*real___kmpc_aligned_alloc)(std::int32_t, std::size_t, std::size_t, void*);
  return REAL(__kmpc_aligned_alloc)(kmpc_member() ? number_in_libomp(nullptr) : thread, align,
                                    bytes, from);
}
KILTER_EXPORTED void __kmpc_free(std::int32_t thread, void* at, void* from) {
  static void (*real___kmpc_free)(std::int32_t, void*, void*);
  REAL(__kmpc_free)(kmpc_member() ? number_in_libomp(nullptr) : thread, at, from);
}

KILTER_EXPORTED void __kmpc_serialized_parallel(ident* place, std::int32_t thread) {
  static void (*real___kmpc_serialized_parallel)(ident*, std::int32_t);
  static_cast<void>(take_announced());
  if (kmpc_member()) return begin_alone();
  REAL(__kmpc_serialized_parallel)(place, thread);
}
KILTER_EXPORTED void __kmpc_end_serialized_parallel(ident* place, std::int32_t thread) {
  static void (*real___kmpc_end_serialized_parallel)(ident*, std::int32_t);
  if (kmpc_member()) return end_alone();
  REAL(__kmpc_end_serialized_parallel)(place, thread);
}

#define STATIC_LOOP(name, T)                                                                       \
  KILTER_EXPORTED void name(ident* place, std::int32_t thread, std::int32_t how,                   \
                            std::int32_t* last, T* lower, T* upper, std::make_signed_t<T>* stride, \
                            std::make_signed_t<T> by, std::make_signed_t<T> chunk) {               \
    static void (*real_##name)(ident*, std::int32_t, std::int32_t, std::int32_t*, T*, T*,          \
                               std::make_signed_t<T>*, std::make_signed_t<T>,                      \
                               std::make_signed_t<T>);                                             \
    if (const member* const m = kmpc_member())                                                     \
      return give_static_share(*m, how, last, *lower, *upper, *stride, by, chunk);                 \
    REAL(name)(place, thread, how, last, lower, upper, stride, by, chunk);                         \
  }

namespace {
template <class T>
void give_static_share(const member& m, std::int32_t number, std::int32_t* last, T& lower, T& upper,
                       std::make_signed_t<T>& stride, std::make_signed_t<T> by,
                       std::make_signed_t<T> chunk) noexcept {
  if (last) *last = 0;
  stride = by;
  if (kmpc_count(lower, upper, by) == 0) return;
  const kmpc_schedule how = schedule_of_number(number).how;
  // of one team
  const bool of_league =
      how == kmpc_schedule::distribute || how == kmpc_schedule::distribute_chunked;
  const auto share =
      kmpc_static_share(how, lower, upper, by, chunk > 0 ? static_cast<std::uint64_t>(chunk) : 1,
                        of_league ? 1 : m.of->members, of_league ? 0 : m.number);
  lower = share.lower;
  upper = share.upper;
  stride = share.stride;
  if (last) *last = share.last ? 1 : 0;
}
}  // namespace

STATIC_LOOP(__kmpc_for_static_init_4, std::int32_t)
STATIC_LOOP(__kmpc_for_static_init_4u, std::uint32_t)
STATIC_LOOP(__kmpc_for_static_init_8, std::int64_t)
STATIC_LOOP(__kmpc_for_static_init_8u, std::uint64_t)
#undef STATIC_LOOP

KILTER_EXPORTED void __kmpc_for_static_fini(ident* place, std::int32_t thread) {
  static void (*real___kmpc_for_static_fini)(ident*, std::int32_t);
  if (!kmpc_member()) REAL(__kmpc_for_static_fini)(place, thread);
}
