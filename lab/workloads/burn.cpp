#include "workloads/burn.hpp"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <thread>

namespace kilter::lab {

namespace {

constexpr std::uint32_t steps_of_piece = 1024;

/// A chain of dependent steps, which no compiler shortens and no wide core overlaps.
std::uint64_t steps(std::uint64_t x, std::uint64_t count) noexcept {
  for (std::uint64_t i = 0; i < count; ++i) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
  }
  return x;
}

double cpu_seconds() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

class burning final : public apps::kernel_instance {
 public:
  explicit burning(std::uint32_t concurrency)
      : kernel_instance("burn", 1, 64,
                        {.concurrency = concurrency, .pool_bytes = std::size_t{64} * concurrency}) {
  }
  [[nodiscard]] std::uint32_t parts(std::uint32_t width) const noexcept override {
    return width == 1 ? 1 : pieces_of_burn;
  }
  [[nodiscard]] bool check(std::uint64_t) const override { return true; }

 private:
  void body(std::size_t, std::uint32_t, std::uint32_t parts) noexcept override {
    burn_pieces(pieces_of_burn / parts);
  }
};

}  // namespace

void burn_pieces(std::uint64_t pieces) noexcept {
  thread_local std::atomic<std::uint64_t> kept{88172645463325252u};  // so that the result is used
  kept.store(steps(kept.load(std::memory_order_relaxed), pieces * steps_of_piece),
             std::memory_order_relaxed);
}

double seconds_of_piece(const core& where) {
  double least = std::numeric_limits<double>::infinity();
  std::thread([&] {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (where.os_index >= 0 && where.os_index < CPU_SETSIZE) {
      CPU_SET(where.os_index, &set);
      // if it fails it is measured where it runs
      ::pthread_setaffinity_np(::pthread_self(), sizeof set, &set);
    }
    constexpr std::uint64_t pieces = 256;
    burn_pieces(4 * pieces);
    for (int round = 0; round < 20; ++round) {
      const double from = cpu_seconds();
      burn_pieces(pieces);
      least = std::min(least, (cpu_seconds() - from) / pieces);
    }
  }).join();
  return least;
}

std::unique_ptr<apps::kernel_instance> make_burn_kernel(std::uint32_t concurrency) {
  return std::make_unique<burning>(concurrency);
}

}  // namespace kilter::lab
