#include "base/sync.hpp"

#include <linux/membarrier.h>
#include <pthread.h>

namespace kilter::sync {

double cycles_per_second() noexcept {
#if defined(__aarch64__)
  static const double rate = [] {
    std::uint64_t v;
    asm volatile("mrs %0, cntfrq_el0" : "=r"(v));
    return static_cast<double>(v);
  }();
#elif defined(__x86_64__)
  static const double rate = [] {
    // The least disturbed of several short spans: an interruption between the two reads can only
    // lengthen one of them.
    double best_error = 1e300, best_rate = 1e9;
    for (int attempt = 0; attempt < 5; ++attempt) {
      const auto n0 = nanoseconds();
      const auto c0 = cycles();
      const auto n1 = nanoseconds();
      while (nanoseconds() - n1 < 2'000'000) relax();
      const auto n2 = nanoseconds();
      const auto c1 = cycles();
      const auto n3 = nanoseconds();
      const auto error = static_cast<double>((n1 - n0) + (n3 - n2));
      if (error < best_error) {
        best_error = error;
        best_rate =
            static_cast<double>(c1 - c0) / (static_cast<double>(n2 + n3 - n0 - n1) / 2 * 1e-9);
      }
    }
    return best_rate;
  }();
#else
  static const double rate = 1e9;
#endif
  return rate;
}

namespace {
bool register_membarrier() noexcept {
#if defined(__SANITIZE_THREAD__)
  return false;
#else
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
#endif
}
}  // namespace

namespace {
std::atomic<std::uint32_t> forks_seen{0};
[[maybe_unused]] const int watching_forks =
    pthread_atfork(nullptr, nullptr, [] { forks_seen.fetch_add(1, std::memory_order_relaxed); });
}  // namespace

std::uint32_t forks() noexcept { return forks_seen.load(std::memory_order_relaxed); }

const bool asymmetric_fences = register_membarrier();

bool heavy_fence() noexcept {
  fence();
  return asymmetric_fences && syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

}  // namespace kilter::sync
