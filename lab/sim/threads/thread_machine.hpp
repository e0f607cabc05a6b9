#pragma once
// The machine that threads are simulated on, and the operating system's part of it (papers.md B4,
// B5, B6). Plain data.

#include <cstdint>
#include <limits>
#include <vector>

#include "kilter/ids.hpp"

namespace kilter::sim {

struct logical_core {
  double clock = 1.0;         ///< over the reference clock
  std::uint32_t socket = 0;   ///< whose last-level cache it uses
  core_id sibling = no_core;  ///< the other thread of its core
};

struct thread_machine {
  std::vector<logical_core> cores;
  /// throughput of a core whose two threads are busy, over that of one
  double smt_both = 1.25;
  double controller_bytes_per_s = std::numeric_limits<double>::infinity();
  std::vector<double> path_bytes_per_s;  ///< of each socket to memory; none: no limit
  /// of memory as seen from each socket, over that which stalls are given at; none: 1
  std::vector<double> latency{};

  double migrate_s = 0.0;           ///< what a move costs beside the caches
  double refill_bytes = 0.0;        ///< read again by a thread that comes from another socket
  double refill_near_bytes = 0.0;   ///< from another core of its socket
  double refill_bytes_per_s = 1e9;  ///< how fast one thread reads them if nobody else wants memory

  /// from being woken to running: lock handed over, barrier open, join
  double wake_s = 0.0;
  /// chance that a woken thread goes to a random idle core though its own is free
  double wake_move = 0.0;
  /// mean time between short sleeps of a thread (a page, a timer); 0: none
  double pause_every_s = 0.0;
  double pause_s = 0.0;  ///< length of one

  double sigma = 0.0;          ///< of the log-normal factor of each piece of computing
  double counter_sigma = 0.0;  ///< likewise of each value that a counter shows
};

}  // namespace kilter::sim
