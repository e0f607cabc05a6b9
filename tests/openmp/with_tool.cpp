// A program that a tool watches (OMPT): it wants none after all, but whoever runs its regions in
// libomp's place cannot know that.
#include <cstdio>

extern "C" void* ompt_start_tool(unsigned, const char*) { return nullptr; }

int main() {
  long sum = 0;
  for (int round = 0; round < 5; ++round) {
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 100; ++i) sum += i;
  }
  std::printf("%ld\n", sum);
}
