#pragma once
// The one door through which atomics, locks, parking, threads and clocks enter everything that
// threads share (tests/layers.py looks). Replacing this header replaces them everywhere: that is
// how the production code runs under a model checker (tests/model).

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <ctime>
#include <mutex>
#include <stop_token>
#include <thread>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kilter::sync {

template <class T>
using atomic = std::atomic<T>;
using thread = std::thread;
using mutex = std::mutex;
using condition = std::condition_variable;
using std::lock_guard;
using std::stop_callback;
using std::stop_token;
using std::unique_lock;

using std::memory_order;
using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;

inline constexpr std::size_t cache_line = 64;

/// A full fence. ThreadSanitizer does not model fences, so there it is an atomic exchange that it
/// does.
inline void fence() noexcept {
#if defined(__SANITIZE_THREAD__)
  static std::atomic<int> anchor{0};
  anchor.exchange(1, std::memory_order_seq_cst);
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

/// Tells the core that this is a spin loop.
inline void relax() noexcept {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

/// Lets another thread have the core.
inline void yield() noexcept { std::this_thread::yield(); }

/// Monotonic wall clock in nanoseconds.
inline std::int64_t nanoseconds() noexcept {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

/// CPU time of the calling thread in nanoseconds. A system call: for long tasks only.
inline std::int64_t thread_cpu_nanoseconds() noexcept {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

/// The cycle counter: the cheapest monotonic clock there is. Scaled by `cycles_per_second()`.
inline std::uint64_t cycles() noexcept {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  std::uint64_t v;
  asm volatile("mrs %0, cntvct_el0" : "=r"(v));
  return v;
#else
  return static_cast<std::uint64_t>(nanoseconds());
#endif
}

/// Ticks of `cycles()` in one second, measured once against the monotonic clock (aarch64: read from
/// the hardware).
double cycles_per_second() noexcept;

/// Sleeps while `word == expected`, at most `timeout_ns` (negative: without limit). May wake
/// spuriously.
inline void park(atomic<std::uint32_t>& word, std::uint32_t expected,
                 std::int64_t timeout_ns = -1) noexcept {
  timespec t{};
  if (timeout_ns >= 0) {
    t.tv_sec = timeout_ns / 1'000'000'000;
    t.tv_nsec = timeout_ns % 1'000'000'000;
  }
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, timeout_ns >= 0 ? &t : nullptr, nullptr,
          0);
}

inline void unpark(atomic<std::uint32_t>& word, int how_many) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, how_many, nullptr, nullptr, 0);
}

/// Changes in the child of a fork: its other threads are gone, and so is whatever they were about
/// to do. Counts from 0.
std::uint32_t forks() noexcept;

/// Makes every other running thread of the process pass a full fence. Paired with a compiler
/// barrier on the hot side: the rare side (a worker about to sleep) pays for both. Returns false if
/// the kernel cannot; then both sides fence.
bool heavy_fence() noexcept;
/// True if `heavy_fence` works here, so that `light_fence` may be a compiler barrier.
extern const bool asymmetric_fences;

/// What stands before is not moved behind it by the compiler: enough beside a `heavy_fence` that
/// works.
inline void compiler_fence() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }

inline void light_fence() noexcept {
  if (asymmetric_fences) [[likely]]
    compiler_fence();
  else
    fence();
}

}  // namespace kilter::sync
