#pragma once
// What it costs to move a cache line between the first two CPUs that this process may use: of a
// virtual machine's cores it changes within seconds, as the host moves them.

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace kilter::bench {

/// Nanoseconds, the least of some rounds in which two threads change a megabyte in turn; 0 on one
/// CPU.
inline double moved_line_ns() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  std::vector<int> cpus;
  for (int c = 0; c < CPU_SETSIZE && cpus.size() < 2; ++c)
    if (CPU_ISSET(c, &allowed)) cpus.push_back(c);
  if (cpus.size() < 2) return 0.0;
  constexpr int rounds = 20;
  constexpr std::size_t line = 64;
  std::vector<char> memory(std::size_t{1} << 20);
  std::atomic<int> turn{0};
  double least_s[2] = {1.0, 1.0};
  const auto one = [&](int who) {
    cpu_set_t mine;
    CPU_ZERO(&mine);
    CPU_SET(cpus[static_cast<std::size_t>(who)], &mine);
    pthread_setaffinity_np(pthread_self(), sizeof mine, &mine);
    for (int round = 0; round < rounds; ++round) {
      while (turn.load(std::memory_order_acquire) != who) {
      }
      const auto begin = std::chrono::steady_clock::now();
      for (std::size_t i = 0; i < memory.size(); i += line) ++memory[i];
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      if (round > 1) least_s[who] = std::min(least_s[who], took.count());
      turn.store(1 - who, std::memory_order_release);
    }
  };
  std::thread first(one, 0), second(one, 1);
  first.join();
  second.join();
  return std::max(least_s[0], least_s[1]) / static_cast<double>(memory.size() / line) * 1e9;
}

}  // namespace kilter::bench
