// One member has all the work, and the others wait for it: at the end of the region (`end`), or at
// barriers (`barrier`). The work is sleep, so that it takes as long on a CPU that others use.
#include <omp.h>
#include <unistd.h>

#include <cstring>

static void work(int round) {
  if (omp_get_thread_num() == round % 2) usleep(20'000);
}

int main(int, char** words) {
  if (std::strcmp(words[1], "end") == 0) {
    for (int round = 0; round < 8; ++round) {
#pragma omp parallel
      work(round);
    }
  } else {
    for (int region = 0; region < 4; ++region) {
#pragma omp parallel
      for (int round = 0; round < 4; ++round) {
        work(round);
#pragma omp barrier
      }
    }
  }
}
