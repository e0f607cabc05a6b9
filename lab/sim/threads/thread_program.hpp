#pragma once
// Programs of threads as the simulator runs them: what each thread does, one step after the other.
// Plain data.

#include <cstdint>
#include <string>
#include <vector>

namespace kilter::sim {

/// What computing asks of the machine. All of it is of a thread alone on a core at the reference
/// clock.
struct demand {
  /// part of its time that neither a faster clock nor a quiet sibling shortens, 0..1
  double stall = 0.0;
  double bytes_per_s = 0.0;  ///< that reach memory
  double miss_ratio = 0.0;   ///< of the last-level cache, 0..1
};

enum class step_kind : std::uint8_t {
  compute,  ///< `amount_s` of `demands[which]`
  lock,     ///< the program's lock `which`; who waits gets it in the order of asking
  unlock,
  /// computes a piece of pool `which`, again and again until none is left; waits for one that is
  /// not there yet
  pool,
  barrier,  ///< until all parties of barrier `which` have come
  start,    ///< creates the threads of group `which`, in order
  /// until all threads of group `which` have ended; one thread only may wait for a group
  join,
};

struct thread_step {
  step_kind kind = step_kind::compute;
  std::uint32_t which = 0;
  double amount_s = 0.0;  ///< of computing: seconds alone on a core at the reference clock
};

/// Pieces of work that whoever comes first takes.
struct thread_pool {
  static constexpr std::uint32_t nobody = ~0u;

  std::uint32_t pieces = 0;
  double amount_s = 0.0;  ///< of each, unless `amounts_s` says it
  std::uint32_t demand = 0;
  /// an earlier pool of as many pieces, as stages of a pipeline have it: a piece is there once one
  /// of that pool is done. nobody: all are there
  std::uint32_t fed_by = nobody;
  /// of the pieces in the order in which they are taken; empty: all alike
  std::vector<double> amounts_s{};
};

struct thread_plan {
  std::vector<thread_step> steps{};
  double length = 0.0;           ///< what its program announces of it (S3), relative; 0: nothing
  double critical_length = 0.0;  ///< likewise, of its critical sections
  bool endless = false;          ///< begins anew; the run does not wait for it
};

struct thread_group {
  std::vector<thread_plan> threads;
};

struct thread_program {
  std::string name;
  bool background = false;  ///< not part of what is measured
  bool movable = true;      ///< false: its masks are not the scheduler's to change
  std::vector<demand> demands{};
  std::uint32_t locks = 0;
  std::vector<std::uint32_t> barriers{};  ///< parties of each
  std::vector<thread_pool> pools{};
  /// the first exists from the beginning, every other is started by one step
  std::vector<thread_group> groups{};
};

}  // namespace kilter::sim
