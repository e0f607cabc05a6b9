// What a program asks about its threads and teams. A module asks the library that it was linked with, which the version of the name says: VERSION is libomp's,
// the others are libgomp's. Who asks without a version gets the first library that was loaded, as without us.

#include "balance/preload/guest.hpp"
#include "regions/openmp/kmpc.hpp"

namespace kilter::regions {

namespace {

/// The member of the team at a level, counted from the outermost, on this thread's way there; null if there is none.
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
int ancestor(const member& m, int l) noexcept { return l == 0 ? 0 : member_at(m, l) ? static_cast<int>(member_at(m, l)->number) : -1; }
int size_at(const member& m, int l) noexcept { return l == 0 ? 1 : member_at(m, l) ? static_cast<int>(member_at(m, l)->of->members) : -1; }

}  // namespace

}  // namespace kilter::regions

using namespace kilter::regions;

#define FIRST(name) (real_##name ? real_##name : kept_as(real_##name, real_of_first(#name)))
#define REAL(name) real_of(runtime::libomp, real_##name, #name)

// Fortran's name has another underscore, and its arguments come by reference.
#define QUESTION(name, version, answer)                                                 \
  extern "C" {                                                                          \
  __attribute__((visibility("default"), symver(#name "@@" version))) int gomp_##name() { \
    static int (*real_##name)();                                                        \
    const member* const m = member_for(runtime::libgomp);                               \
    return m ? answer(*m) : FIRST(name)();                                              \
  }                                                                                     \
  __attribute__((visibility("default"), symver(#name "_@@" version))) int gomp_##name##_() { return gomp_##name(); } \
  __attribute__((visibility("default"), symver(#name "@VERSION"))) int kmp_##name() {    \
    static int (*real_##name)();                                                        \
    const member* const m = member_for(runtime::libomp);                                \
    return m ? answer(*m) : REAL(name)();                                               \
  }                                                                                     \
  __attribute__((visibility("default"), symver(#name "_@VERSION"))) int kmp_##name##_() { return kmp_##name(); } \
  }
QUESTION(omp_get_thread_num, "OMP_1.0", number)
QUESTION(omp_get_num_threads, "OMP_1.0", members)
QUESTION(omp_in_parallel, "OMP_1.0", is_active)
QUESTION(omp_get_level, "OMP_3.0", level)
QUESTION(omp_get_active_level, "OMP_3.0", active_levels)
#undef QUESTION

#define QUESTION_AT(name, answer)                                                        \
  extern "C" {                                                                           \
  __attribute__((visibility("default"), symver(#name "@@OMP_3.0"))) int gomp_##name(int level) { \
    static int (*real_##name)(int);                                                      \
    const member* const m = member_for(runtime::libgomp);                                \
    return m ? answer(*m, level) : FIRST(name)(level);                                   \
  }                                                                                      \
  __attribute__((visibility("default"), symver(#name "_@@OMP_3.0"))) int gomp_##name##_(const int* level) { return gomp_##name(*level); } \
  __attribute__((visibility("default"), symver(#name "_8_@@OMP_3.0"))) int gomp_##name##_8_(const long* level) { return gomp_##name(static_cast<int>(*level)); } \
  __attribute__((visibility("default"), symver(#name "@VERSION"))) int kmp_##name(int level) { \
    static int (*real_##name)(int);                                                      \
    const member* const m = member_for(runtime::libomp);                                 \
    return m ? answer(*m, level) : REAL(name)(level);                                    \
  }                                                                                      \
  __attribute__((visibility("default"), symver(#name "_@VERSION"))) int kmp_##name##_(const int* level) { return kmp_##name(*level); } \
  }
QUESTION_AT(omp_get_ancestor_thread_num, ancestor)
QUESTION_AT(omp_get_team_size, size_at)
#undef QUESTION_AT

// What libomp alone is asked. Its threads take over what the thread that came to a region has set; ours have said nothing to it.
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

#define OF_LIBOMP(name) extern "C" __attribute__((visibility("default"), symver(name "@VERSION")))

OF_LIBOMP("omp_get_max_threads") int kmp_omp_get_max_threads() {
  static int (*real_omp_get_max_threads)();
  return own_settings ? own_settings->max_threads : REAL(omp_get_max_threads)();
}
OF_LIBOMP("omp_get_max_threads_") int kmp_omp_get_max_threads_() { return kmp_omp_get_max_threads(); }
OF_LIBOMP("omp_set_num_threads") void kmp_omp_set_num_threads(int threads) {
  static void (*real_omp_set_num_threads)(int);
  if (!own_settings) return REAL(omp_set_num_threads)(threads);
  own_settings->max_threads = threads > 0 ? threads : 1;
}
OF_LIBOMP("omp_set_num_threads_") void kmp_omp_set_num_threads_(const int* threads) { kmp_omp_set_num_threads(*threads); }
OF_LIBOMP("omp_get_schedule") void kmp_omp_get_schedule(int* how, int* chunk) {
  static void (*real_omp_get_schedule)(int*, int*);
  if (!own_settings) return REAL(omp_get_schedule)(how, chunk);
  *how = own_settings->schedule;
  *chunk = own_settings->chunk;
}
OF_LIBOMP("omp_get_schedule_") void kmp_omp_get_schedule_(int* how, int* chunk) { kmp_omp_get_schedule(how, chunk); }
OF_LIBOMP("omp_set_schedule") void kmp_omp_set_schedule(int how, int chunk) {
  static void (*real_omp_set_schedule)(int, int);
  if (!own_settings) return REAL(omp_set_schedule)(how, chunk);
  own_settings->schedule = how;
  own_settings->chunk = chunk;
}
OF_LIBOMP("omp_set_schedule_") void kmp_omp_set_schedule_(const int* how, const int* chunk) { kmp_omp_set_schedule(*how, *chunk); }
