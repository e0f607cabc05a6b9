#pragma once
// What the thread simulator asks of whoever schedules. Without one the simulated operating system
// is alone.

#include <cstdint>
#include <span>
#include <vector>

#include "kilter/ids.hpp"

namespace kilter::sim {

/// A thread's counters over the time since the last look.
struct thread_counters {
  std::uint32_t thread = 0;  ///< dense, in order of creation
  std::uint32_t program = 0;
  core_id core = no_core;
  bool runnable = false;
  double ran_s = 0.0, waited_s = 0.0;
  double misses = 0.0, references = 0.0, instructions = 0.0;
};

/// A thread that is about to be created.
struct thread_birth {
  std::uint32_t thread = 0, program = 0;
  double length = 0.0, critical_length = 0.0;         ///< as announced; 0: not
  std::span<const double> lengths, critical_lengths;  ///< of its whole group, in order of creation
  std::uint32_t index = 0;                            ///< its own in the group
};

struct thread_move {
  std::uint32_t thread = 0;
  core_id to = no_core;
};

class thread_watcher {
 public:
  virtual ~thread_watcher() = default;
  /// Where it begins and stays until moved; no_core: the operating system decides. `taken[core]`:
  /// threads that live there.
  virtual core_id place(const thread_birth&, std::span<const std::uint32_t> taken) = 0;
  /// Seconds to the first look, > 0; infinite: never.
  [[nodiscard]] virtual double first_s() const = 0;
  /// All threads that exist, by number. Moves are carried out in order, threads that ended or that
  /// it does not own left where they are. Returns the seconds to the next look, > 0.
  virtual double look(double now_s, double length_s, std::span<const thread_counters>,
                      std::vector<thread_move>& moves) = 0;
  /// A thread ended.
  virtual void ended(std::uint32_t /*thread*/, double /*now_s*/) {}
};

}  // namespace kilter::sim
