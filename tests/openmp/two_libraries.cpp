// A program of gcc, with libgomp, opens a module of clang, with libomp, for itself alone. Each asks
// its own library, also in a region of the other one. With -DMODULE it is that module.
#include <omp.h>

#ifdef MODULE

extern "C" int asked() {
  return omp_get_thread_num() * 1000 + omp_get_num_threads() * 10 + omp_in_parallel();
}

extern "C" long add_up(int n, int (*other)(), int* wrong) {
  long sum = 0;
  int differ = 0;
#pragma omp parallel for reduction(+ : sum, differ) num_threads(2)
  for (int i = 0; i < n; ++i) {
    sum += i;
    // to the other one this thread is alone
    differ += other() == 10 && omp_get_num_threads() == 2 && omp_in_parallel() ? 0 : 1;
  }
  *wrong += differ;
  return sum;
}

#else

#include <dlfcn.h>

#include <cstdio>

namespace {
int asked_here() {
  return omp_get_thread_num() * 1000 + omp_get_num_threads() * 10 + omp_in_parallel();
}
}  // namespace

int main(int, char** words) {
  void* const module = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
  if (!module) {
    std::puts(dlerror());
    return 1;
  }
  const auto asked = reinterpret_cast<int (*)()>(dlsym(module, "asked"));
  const auto add_up = reinterpret_cast<long (*)(int, int (*)(), int*)>(dlsym(module, "add_up"));
  int wrong = 0;
  long sum = 0;
  for (int round = 0; round < 12; ++round) {
    sum += add_up(1000, asked_here, &wrong);
#pragma omp parallel for reduction(+ : sum, wrong) num_threads(2)
    for (int i = 0; i < 1000; ++i) {
      sum += i;
      wrong += asked() == 10 && omp_get_num_threads() == 2 ? 0 : 1;
    }
  }
  std::printf("%ld %d\n", sum, wrong);
}

#endif
