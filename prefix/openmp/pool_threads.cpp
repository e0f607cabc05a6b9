#include "openmp/pool_threads.hpp"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>

namespace kilter::regions {

pool_thread pool_threads[most_workers + 1];
std::atomic<std::uint32_t> workers{0};
extra_pool_thread extras[most_extras];
std::atomic<std::uint32_t> extras_made{0};
constinit __attribute__((tls_model("initial-exec"))) thread_local pool_thread* own_pool_thread =
    nullptr;

std::uint32_t pool_size() noexcept {
  static std::atomic<std::uint32_t> size{0};
  std::uint32_t cpus = size.load(std::memory_order_relaxed);
  if (cpus == 0) {
    cpu_set_t allowed;
    cpus = sched_getaffinity(0, sizeof allowed, &allowed) == 0
               ? static_cast<std::uint32_t>(CPU_COUNT(&allowed))
               : 1;
    size.store(std::min(cpus, most_workers + 1), std::memory_order_relaxed);
  }
  return cpus;
}

bool put_on(pid_t thread, int cpu) noexcept {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned>(cpu), &one);
  return sched_setaffinity(thread, sizeof one, &one) == 0;
}

bool start_thread(void* (*f)(void*), void* argument) noexcept {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const bool begun = pthread_create(&thread, &attributes, f, argument) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return begun;
}

}  // namespace kilter::regions
