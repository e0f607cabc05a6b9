// Asks OpenMP if there is anybody to ask, as OpenBLAS does, and has no library of it. With the
// preloaded library there is somebody.
#include <cstdio>

extern "C" {
__attribute__((weak)) int omp_in_parallel();
__attribute__((weak)) int omp_get_thread_num();
__attribute__((weak)) int omp_get_num_threads();
__attribute__((weak)) int omp_get_max_threads();
__attribute__((weak)) int omp_get_level();
__attribute__((weak)) int omp_get_active_level();
__attribute__((weak)) int omp_get_team_size(int);
__attribute__((weak)) int omp_get_ancestor_thread_num(int);
__attribute__((weak)) void omp_set_num_threads(int);
__attribute__((weak)) void omp_set_schedule(int, int);
__attribute__((weak)) void omp_get_schedule(int*, int*);
}

int main() {
  if (!omp_in_parallel) return std::puts("nobody") < 0;
  omp_set_num_threads(7);
  omp_set_schedule(2, 5);
  int how = -1, chunk = -1;
  omp_get_schedule(&how, &chunk);
  std::printf(
      "in_parallel %d thread %d of %d, at most %d, level %d, active %d, size %d %d, number %d %d, "
      "schedule %d %d\n",
      omp_in_parallel(), omp_get_thread_num(), omp_get_num_threads(), omp_get_max_threads(),
      omp_get_level(), omp_get_active_level(), omp_get_team_size(0), omp_get_team_size(1),
      omp_get_ancestor_thread_num(0), omp_get_ancestor_thread_num(1), how, chunk);
}
