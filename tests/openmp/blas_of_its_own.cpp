// As a module, OpenBLAS as far as its number of threads goes: it makes one when it is loaded. As a
// program: loads that module while somebody uses each CPU, and waits until it has one thread only.
#ifdef MODULE
#include <pthread.h>
#include <unistd.h>

static int threads = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
extern "C" int openblas_get_num_threads() { return threads; }
extern "C" void openblas_set_num_threads(int n) { threads = n; }
__attribute__((constructor)) static void make_threads() {
  pthread_t one;
  if (pthread_create(
          &one, nullptr,
          [](void*) -> void* {
            for (;;) pause();
          },
          nullptr) == 0)
    pthread_detach(one);
}
#else
#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int, char** words) {
  const bool beside = words[2] != nullptr;
  std::vector<pid_t> others;
  for (long n = sysconf(_SC_NPROCESSORS_ONLN); beside && n > 0; --n) {
    others.push_back(fork());
    if (others.back() == 0)
      for (alarm(60);;) {
      }
  }
  void* const module = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
  if (!module) return std::puts(dlerror()), 1;
  const auto get = reinterpret_cast<int (*)()>(dlsym(module, "openblas_get_num_threads"));
  const int before = get();
  using clock = std::chrono::steady_clock;
  const auto end = clock::now() + (beside ? std::chrono::seconds(30) : std::chrono::seconds(1));
  while (clock::now() < end && !(beside && get() == 1)) {
  }
  std::printf("%s\n", get() == before ? "as before" : get() == 1 ? "one" : "another number");
  for (const pid_t p : others) kill(p, SIGKILL);
}
#endif
