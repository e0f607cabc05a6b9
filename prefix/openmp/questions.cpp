// What a program asks about its threads and teams. A module asks the library that it was linked
// with, which the version of the name says: VERSION is libomp's, the others are libgomp's. Who asks
// without a version gets the first library that was loaded, as without us. Where there is none,
// OpenBLAS for one asks all the same if it finds somebody to ask: then there is one thread, outside
// of all regions.

#include "guest/guest.hpp"
#include "openmp/events.hpp"
#include "openmp/kmpc.hpp"
#include "openmp/tasks.hpp"
#include "openmp/team_size.hpp"

namespace kilter::regions {

namespace {

/// The member of the team at a level, counted from the outermost, on this thread's way there; null
/// if there is none.
const member* member_at(const member& from, int level) noexcept {
  const member* m = &from;
  while (m && static_cast<int>(m->of->level) > level) m = m->of->parent;
  return m && static_cast<int>(m->of->level) == level ? m : nullptr;
}
int number(const member& m) noexcept { return static_cast<int>(m.number); }
int members(const member& m) noexcept { return static_cast<int>(m.of->members); }
int level(const member& m) noexcept { return static_cast<int>(m.of->level); }
int active_levels(const member& from) noexcept {
  int active = 0;
  for (const member* m = &from; m; m = m->of->parent) active += m->of->members > 1 ? 1 : 0;
  return active;
}
int is_active(const member& m) noexcept { return active_levels(m) > 0 ? 1 : 0; }
int in_final(const member& m) noexcept { return m.doing->final_one ? 1 : 0; }
int in_task(const member& m) noexcept { return m.doing->depth > 0 ? 1 : 0; }
int ancestor(const member& m, int l) noexcept {
  return l == 0 ? 0 : member_at(m, l) ? static_cast<int>(member_at(m, l)->number) : -1;
}
int size_at(const member& m, int l) noexcept {
  return l == 0 ? 1 : member_at(m, l) ? static_cast<int>(member_at(m, l)->of->members) : -1;
}

}  // namespace

}  // namespace kilter::regions

using namespace kilter::regions;

#define FIRST(name) (real_##name ? real_##name : kept_as(real_##name, real_of_first(#name)))
#define FIRST_OR(name, arguments, alone) (FIRST(name) ? real_##name arguments : (alone))
#define REAL(name) real_of(runtime::libomp, real_##name, #name)

// A function, and the name and version under which others find it. clang has no attribute for that.
#define VERSIONED(function, name)         \
  __asm__(".symver " function ", " name); \
  __attribute__((visibility("default")))

// Fortran's name has another underscore, and its arguments come by reference.
#define QUESTION(name, version, answer, alone)                                                     \
  extern "C" {                                                                                     \
  VERSIONED("gomp_" #name, #name "@@" version) int gomp_##name() {                                 \
    static int (*real_##name)();                                                                   \
    const member* const m = member_for(runtime::libgomp);                                          \
    return m ? answer(*m) : FIRST_OR(name, (), alone);                                             \
  }                                                                                                \
  VERSIONED("gomp_" #name "_", #name "_@@" version) int gomp_##name##_() { return gomp_##name(); } \
  VERSIONED("kmp_" #name, #name "@VERSION") int kmp_##name() {                                     \
    static int (*real_##name)();                                                                   \
    const member* const m = member_for(runtime::libomp);                                           \
    return m ? answer(*m) : REAL(name)();                                                          \
  }                                                                                                \
  VERSIONED("kmp_" #name "_", #name "_@VERSION") int kmp_##name##_() { return kmp_##name(); }      \
  }
QUESTION(omp_get_thread_num, "OMP_1.0", number, 0)
QUESTION(omp_get_num_threads, "OMP_1.0", members, 1)
QUESTION(omp_in_parallel, "OMP_1.0", is_active, 0)
QUESTION(omp_get_level, "OMP_3.0", level, 0)
QUESTION(omp_get_active_level, "OMP_3.0", active_levels, 0)
QUESTION(omp_in_final, "OMP_3.1", in_final, 0)
QUESTION(omp_in_explicit_task, "OMP_5.2", in_task, 0)
#undef QUESTION

#define QUESTION_AT(name, answer, alone)                                                         \
  extern "C" {                                                                                   \
  VERSIONED("gomp_" #name, #name "@@OMP_3.0") int gomp_##name(int level) {                       \
    static int (*real_##name)(int);                                                              \
    const member* const m = member_for(runtime::libgomp);                                        \
    return m ? answer(*m, level) : FIRST_OR(name, (level), alone);                               \
  }                                                                                              \
  VERSIONED("gomp_" #name "_", #name "_@@OMP_3.0") int gomp_##name##_(const int* level) {        \
    return gomp_##name(*level);                                                                  \
  }                                                                                              \
  VERSIONED("gomp_" #name "_8_", #name "_8_@@OMP_3.0") int gomp_##name##_8_(const long* level) { \
    return gomp_##name(static_cast<int>(*level));                                                \
  }                                                                                              \
  VERSIONED("kmp_" #name, #name "@VERSION") int kmp_##name(int level) {                          \
    static int (*real_##name)(int);                                                              \
    const member* const m = member_for(runtime::libomp);                                         \
    return m ? answer(*m, level) : REAL(name)(level);                                            \
  }                                                                                              \
  VERSIONED("kmp_" #name "_", #name "_@VERSION") int kmp_##name##_(const int* level) {           \
    return kmp_##name(*level);                                                                   \
  }                                                                                              \
  }
QUESTION_AT(omp_get_ancestor_thread_num, ancestor, level == 0 ? 0 : -1)
QUESTION_AT(omp_get_team_size, size_at, level == 0 ? 1 : -1)
#undef QUESTION_AT

// What libomp alone is asked. Its threads take over what the thread that came to a region has set;
// ours have said nothing to it.
KILTER_EXPORTED std::int32_t __kmpc_bound_thread_num(ident* place) {
  static std::int32_t (*real___kmpc_bound_thread_num)(ident*);
  const member* const m = kmpc_member();
  return m ? number(*m) : REAL(__kmpc_bound_thread_num)(place);
}
KILTER_EXPORTED std::int32_t __kmpc_bound_num_threads(ident* place) {
  static std::int32_t (*real___kmpc_bound_num_threads)(ident*);
  const member* const m = kmpc_member();
  return m ? members(*m) : REAL(__kmpc_bound_num_threads)(place);
}
KILTER_EXPORTED std::int32_t __kmpc_in_parallel(ident* place) {
  static std::int32_t (*real___kmpc_in_parallel)(ident*);
  const member* const m = kmpc_member();
  return m ? is_active(*m) : REAL(__kmpc_in_parallel)(place);
}

// What is set for regions to come. A member begins with what the thread that came to its region
// had, and sets it for itself; our thread has said nothing to its library.
#define SETTING(result, name, version, parameters, arguments, alone, of_member, before) \
  extern "C" {                                                                          \
  VERSIONED("gomp_" #name, #name "@@" version) result gomp_##name parameters {          \
    static result(*real_##name) parameters;                                             \
    if (member* const m = member_for(runtime::libgomp)) of_member;                      \
    before(runtime::libgomp);                                                           \
    return FIRST_OR(name, arguments, alone);                                            \
  }                                                                                     \
  VERSIONED("kmp_" #name, #name "@VERSION") result kmp_##name parameters {              \
    static result(*real_##name) parameters;                                             \
    if (member* const m = member_for(runtime::libomp)) of_member;                       \
    before(runtime::libomp);                                                            \
    return REAL(name) arguments;                                                        \
  }                                                                                     \
  }
// Fortran's names, whose arguments come by reference.
#define IN_FORTRAN(result, name, version, parameters, arguments)                       \
  extern "C" {                                                                         \
  VERSIONED("gomp_" #name "_", #name "_@@" version) result gomp_##name##_ parameters { \
    return gomp_##name arguments;                                                      \
  }                                                                                    \
  VERSIONED("kmp_" #name "_", #name "_@VERSION") result kmp_##name##_ parameters {     \
    return kmp_##name arguments;                                                       \
  }                                                                                    \
  }
#define IN_WIDE_FORTRAN(name, version, parameters, ...)                                    \
  extern "C" {                                                                             \
  VERSIONED("gomp_" #name "_8_", #name "_8_@@" version) void gomp_##name##_8_ parameters { \
    __VA_ARGS__;                                                                           \
  }                                                                                        \
  }

// How many members teams have is settled when that is asked first (team_size.hpp).
#define SETTLE(library) \
  settle_team_size(library, __builtin_extract_return_addr(__builtin_return_address(0)))
#define LEAVE(library) leave_team_size()
#define NOTHING(library) static_cast<void>(0)

SETTING(int, omp_get_max_threads, "OMP_1.0", (), (), 1, return m->settings.max_threads, SETTLE)
IN_FORTRAN(int, omp_get_max_threads, "OMP_1.0", (), ())
SETTING(void, omp_set_num_threads, "OMP_1.0", (int threads), (threads), void(),
        return static_cast<void>(m->settings.max_threads = threads > 0 ? threads : 1), LEAVE)
IN_FORTRAN(void, omp_set_num_threads, "OMP_1.0", (const int* threads), (*threads))
IN_WIDE_FORTRAN(omp_set_num_threads, "OMP_1.0", (const long* threads),
                gomp_omp_set_num_threads(static_cast<int>(*threads)))
SETTING(int, omp_get_dynamic, "OMP_1.0", (), (), 0, return m->settings.dynamic, NOTHING)
IN_FORTRAN(int, omp_get_dynamic, "OMP_1.0", (), ())
SETTING(void, omp_set_dynamic, "OMP_1.0", (int on), (on), void(),
        return static_cast<void>(m->settings.dynamic = on != 0), NOTHING)
IN_FORTRAN(void, omp_set_dynamic, "OMP_1.0", (const int* on), (*on))
IN_WIDE_FORTRAN(omp_set_dynamic, "OMP_1.0", (const long* on), gomp_omp_set_dynamic(*on != 0))
SETTING(void, omp_get_schedule, "OMP_3.0", (int* how, int* chunk), (how, chunk),
        static_cast<void>((*how = 1, *chunk = 0)),
        return static_cast<void>((*how = m->settings.schedule, *chunk = m->settings.chunk)),
        NOTHING)
IN_FORTRAN(void, omp_get_schedule, "OMP_3.0", (int* how, int* chunk), (how, chunk))
IN_WIDE_FORTRAN(omp_get_schedule, "OMP_3.0", (int* how, long* chunk), int narrow = 0;
                gomp_omp_get_schedule(how, &narrow); *chunk = narrow)
SETTING(void, omp_set_schedule, "OMP_3.0", (int how, int chunk), (how, chunk), void(),
        return static_cast<void>((m->settings.schedule = how, m->settings.chunk = chunk)), NOTHING)
IN_FORTRAN(void, omp_set_schedule, "OMP_3.0", (const int* how, const int* chunk), (*how, *chunk))
IN_WIDE_FORTRAN(omp_set_schedule, "OMP_3.0", (const int* how, const long* chunk),
                gomp_omp_set_schedule(*how, static_cast<int>(*chunk)))

// A detached task is over. Anybody may say so, also a thread of no team.
#define FULFILL(version, prefix, ask)                                    \
  extern "C" {                                                           \
  VERSIONED(#prefix "_omp_fulfill_event", "omp_fulfill_event" version)   \
  void prefix##_omp_fulfill_event(std::uintptr_t event) {                \
    static void (*real_omp_fulfill_event)(std::uintptr_t);               \
    if (task* const t = task_of_event(event)) return fulfill(*t);        \
    ask;                                                                 \
  }                                                                      \
  VERSIONED(#prefix "_omp_fulfill_event_", "omp_fulfill_event_" version) \
  void prefix##_omp_fulfill_event_(const std::uintptr_t* event) {        \
    prefix##_omp_fulfill_event(*event);                                  \
  }                                                                      \
  }
FULFILL("@@OMP_5.0.1", gomp, if (FIRST(omp_fulfill_event)) real_omp_fulfill_event(event))
FULFILL("@VERSION", kmp, REAL(omp_fulfill_event)(event))
#undef FULFILL
