#pragma once
// Threads beyond one for each CPU, for folded teams whose members work for long without waiting.
// Beside a neighbour more threads on a CPU get more of it. And members may wait for one another by
// means of their own, as they may in any team: those that nobody takes get a thread.

#include <cstdint>

#include "openmp/pool_threads.hpp"
#include "openmp/trial.hpp"

namespace kilter::regions {

/// Before a folded team begins: from now on somebody looks every 2 ms, as long as such teams come,
/// whether members work for long while others wait for a thread.
void watch_folded() noexcept;
enum class extra_threads : std::uint8_t { now, if_they_win };
/// All members of the folded team that runs get threads, as soon as the operating system has CPUs
/// for them. `if_they_win`: only if the process has got more CPU time with them.
void call_extra_threads(extra_threads) noexcept;
/// As far as is known.
[[nodiscard]] bool extra_threads_win() noexcept;
/// In a fork's child.
void forget_extra_threads() noexcept;

/// Only the program's own thread runs members of folded teams, as long as that is so. Defined with
/// the pool.
[[nodiscard]] bool runs_alone() noexcept;
void run_alone(bool) noexcept;
/// How often that began.
[[nodiscard]] std::uint64_t times_alone() noexcept;

/// What they do: runs a member of the folded team until it waits or is over; false: none can go on.
/// Defined with the pool.
bool run_member_as_extra(std::uint32_t which, extra_pool_thread&) noexcept;
/// Where none could: until fold_events() is not `seen` any more, or there are tasks. Defined with
/// the pool.
void wait_as_extra(std::uint32_t seen) noexcept;

/// The number of regions that have begun, whether the latest is folded and not over, and what
/// folded ones have done so far. Defined with the pool.
struct region_now {
  std::uint32_t number = 0;
  bool folded = false;
  folded_work work;
};
[[nodiscard]] region_now latest_region() noexcept;
void sleep_until_next_region(std::uint32_t number) noexcept;

}  // namespace kilter::regions
