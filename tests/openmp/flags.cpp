// Whether the process has more threads than a team of two that is left to libgomp. With FENCES its
// members may wait for flags of their own.
#include <omp.h>

#include <cstdio>
#include <filesystem>

static int own = 0;
#pragma omp threadprivate(own)

int main() {
  long threads = 0;
#pragma omp parallel num_threads(2)
  {
    ++own;
#ifdef FENCES
#pragma omp flush
#endif
#pragma omp barrier
#pragma omp master
    for (const auto& each : std::filesystem::directory_iterator("/proc/self/task"))
      threads += each.exists() ? 1 : 0;
#pragma omp barrier
  }
  std::puts(threads > 2 ? "more" : "two");
}
