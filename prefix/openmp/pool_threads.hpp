#pragma once
// The threads on which regions of ours run, and on which CPU each of them is. The first is the
// program's own; the others are pinned to their CPUs.

#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "openmp/team.hpp"

namespace kilter::regions {

constexpr std::uint32_t most_workers = 255;

struct alignas(128) pool_thread {
  std::atomic<pid_t> tid{0};
  std::atomic<int> home{-1};       ///< its CPU
  std::atomic<bool> holds{false};  ///< a member is begun and not ended
  /// in the middle of its member it waits until this is not `waits_while`
  std::atomic<waited_number*> waits_for{nullptr};
  std::atomic<std::uint32_t> waits_while{0};
  /// it was moved to this one's CPU, and is there until it goes home
  std::atomic<pool_thread*> host{nullptr};
  std::atomic<std::uint32_t> guests{0};  ///< that are on its CPU
  /// its CPU is another program's now: it takes no member of a folded team
  std::atomic<bool> rests{false};
  std::atomic<std::int64_t> home_since_ns{0}, stays_until_ns{0};
  /// others have taken its CPU lately: once, more than once
  std::atomic<std::int64_t> suspected_until_ns{0}, shared_until_ns{0};
  /// it has nothing to do in the region that runs; 0: it has, or nobody wants to know
  std::atomic<std::int64_t> idle_since_ns{0};
  /// for itself: when it came to where it may wait, and how long after the time before
  std::int64_t waited_ns = 0, stretch_ns = 0;

  void note_stretch(std::int64_t now_ns) noexcept {
    stretch_ns = now_ns - waited_ns;
    waited_ns = now_ns;
  }
};

/// Threads that can have a member each, the program's own included.
[[nodiscard]] std::uint32_t pool_size() noexcept;

extern pool_thread pool_threads[most_workers + 1];
extern std::atomic<std::uint32_t> workers;

/// A thread beyond these, which may be on any CPU (extra.hpp).
struct alignas(128) extra_pool_thread {
  std::atomic<pid_t> tid{0};
  std::atomic<bool> holds{false};  ///< it is in the middle of a member
};
constexpr std::uint32_t most_extras = 1024;
extern extra_pool_thread extras[most_extras];
extern std::atomic<std::uint32_t> extras_made;

/// Null: this thread is none of them.
extern constinit
    __attribute__((tls_model("initial-exec"))) thread_local pool_thread* own_pool_thread;

[[nodiscard]] bool put_on(pid_t thread, int cpu) noexcept;
/// Nobody waits for its end, and it gets no signals: these are for the program's own threads.
[[nodiscard]] bool start_thread(void* (*)(void*), void* argument) noexcept;

}  // namespace kilter::regions
