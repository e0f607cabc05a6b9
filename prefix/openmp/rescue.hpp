#pragma once
// Who has nothing to do looks for a thread that is held up, and has it go on here. Only threads of
// ours (`pool_threads`) are moved, and one thread at a time looks.
//
// No two threads stay on one CPU. Each has a home, and homes differ. Off its home a thread is a
// guest: `host` says where, is set by who moved it, and is cleared by itself alone, once it is home
// again. It looks at `host` whenever its member ends, and whenever it has waited in its member, so
// a guest always leaves. While two are on one CPU neither spins.

#include "openmp/pool_threads.hpp"

namespace kilter::regions {

constexpr std::int64_t spin_ns = 50'000;        // nobody spins longer
constexpr std::int64_t look_after_ns = 25'000;  // a member that is late is looked for after so long
constexpr std::int64_t look_again_ns = 200'000;

/// What the region that runs is like, for who looks; defined with the pool.
[[nodiscard]] bool rescues_allowed() noexcept;
/// Members of it have no thread yet.
[[nodiscard]] bool some_to_begin() noexcept;

/// By who has nothing to do, while members of others are not done; `again`: it has looked before.
/// True: it should sleep now, for its CPU is somebody's.
bool look_for_late(pool_thread& me, bool again, const awaited&) noexcept;

/// By a guest.
void go_home(pool_thread& me) noexcept;
/// The same, if its time is over, or will be before it can leave the next time, going by how long
/// it worked before this one.
void go_home_in_time(pool_thread& me) noexcept;

/// The program's own thread may be anywhere. Who has the CPU that it is on now gets the one where
/// it was.
void keep_apart(pool_thread& program) noexcept;

/// One wait of a thread.
class waiting {
 public:
  explicit waiting(pool_thread& me) noexcept;
  /// By who waits until `number` is not `old`, while members of others are not done: spins, looks
  /// or sleeps for a while, and returns.
  void turn(waited_number& number, std::uint32_t old) noexcept;

  /// What it waits for is something else from now on.
  void begin_again() noexcept;
  /// How long it has waited; negative: it was not time yet to look at the clock.
  [[nodiscard]] std::int64_t spun_ns() noexcept;

 private:
  pool_thread& me_;
  std::int64_t begin_ns_;
  std::int64_t look_ns_ = look_after_ns;
  unsigned tries_ = 0;
};

struct rescue_numbers {
  /// members that were held up: moved to a CPU that waited, or, of the program's own thread, given
  /// it
  std::uint64_t rescues = 0, exchanges = 0;
};
[[nodiscard]] rescue_numbers rescues_so_far() noexcept;
/// In a fork's child.
void forget_rescues() noexcept;

}  // namespace kilter::regions
