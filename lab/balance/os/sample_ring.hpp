#pragma once
// Reads what the kernel wrote into the ring of one thread's event (perf_event_open(2), "MMAP
// layout"): samples of registers, how many were lost, whether the thread has become another
// program.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "balance/os/operand_decoder.hpp"

namespace kilter::balance::os {

struct ring_contents {
  /// of 64-bit code, oldest first; after an exec only what came behind it
  std::vector<register_values> samples;
  std::uint64_t narrow = 0;  ///< samples of 32-bit code, or without registers
  std::uint64_t lost = 0;    ///< samples for which there was no room
  bool became_another_program = false;
  void clear() { samples.clear(), narrow = lost = 0, became_another_program = false; }
};

/// Adds what has come since the last call to `into` and makes room for more. `mapped`: a control
/// page and the ring behind it, as the kernel maps them.
void drain(std::span<std::byte> mapped, ring_contents& into);

}  // namespace kilter::balance::os
