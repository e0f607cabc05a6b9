// Each thread has a counter of its own, which outlives a region: its members must stay with their
// threads.
#include <omp.h>

#include <cstdio>

static int calls = 0;
#pragma omp threadprivate(calls)

int main() {
  for (int round = 0; round < 20; ++round) {
#pragma omp parallel num_threads(2)
    ++calls;
  }
  int wrong = 0;
#pragma omp parallel num_threads(2) reduction(+ : wrong)
  wrong += calls == 20 ? 0 : 1;
  std::printf("%d\n", wrong);
}
