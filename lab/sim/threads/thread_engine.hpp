#pragma once
// Discrete-event simulation of programs of threads: phases with a demand for memory, locks,
// barriers, fork and join, on cores of unequal clock that share their halves (SMT), the way to
// memory and the time of a core. The model is in lab/docs/threads.md.
//
// Time sharing is fluid: n runnable threads of a core have 1/n of it each, since slices are short
// against what is looked at. Same input and seed, same result on every compiler: times are whole
// picoseconds, threads that end together do so in the order of their numbers, and noise comes from
// a stream of each thread.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/threads/thread_machine.hpp"
#include "sim/threads/thread_program.hpp"
#include "sim/threads/thread_watcher.hpp"

namespace kilter::sim {

struct thread_result {
  std::uint32_t program = 0, group = 0, index = 0;
  double born_s = 0.0;
  double ended_s = 0.0;  ///< of one that did not end: the end of the run
  bool ended = false;
  double ran_s = 0.0;       ///< on a core
  double work_s = 0.0;      ///< done, in seconds alone at the reference clock
  std::uint32_t moves = 0;  ///< to another core, by whomever
};

struct threads_result {
  double end_s = 0.0;                  ///< when the last thread that is waited for ended
  std::vector<thread_result> threads;  ///< in order of creation
  std::vector<double> busy_s;          ///< by core: somebody ran there
  std::uint64_t events = 0;
};

/// input_error: a program that cannot be (a lock released that is not held, a barrier with other
/// parties than it counts, a thread that waits for ever, more than `longest_s` of virtual time).
/// `watcher` may be null.
[[nodiscard]] threads_result run_threads(const thread_machine&, std::span<const thread_program>,
                                         std::uint64_t seed, thread_watcher* watcher,
                                         double longest_s = 1e5);

}  // namespace kilter::sim
