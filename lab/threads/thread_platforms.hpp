#pragma once
// The machines of S1, S3 and S4 as threads are simulated on them. Every number says where it comes
// from; lab/docs/threads.md lists them.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kilter/machine.hpp"
#include "sim/threads/thread_machine.hpp"

namespace kilter::lab {

struct thread_platform {
  std::shared_ptr<const machine> cores;  ///< as a scheduler sees them: fast ones first
  sim::thread_machine simulated;
  /// a scheduler sees misses per cycle of the core, of which the reference clock has as many as a
  /// second (papers.md A5.2)
  bool per_cycle = false;
  /// half of each program begins on either socket and stays until moved (papers.md A5.2), else
  /// where the OS puts it
  bool start_on_halves = false;
};

/// What S4 and its public code leave open of S4's machine.
struct dike_machine {
  /// the socket whose controller is in use, fast or slow (papers.md E35)
  std::string memory = "fast";
  /// how long that memory takes to answer the other socket, over its own
  double remote = 1.0;
  /// paper: 2.33 and 1.21; script: 3.0 and 1.2, as the public script sets them (papers.md A5.2)
  std::string ghz = "paper";
};

/// `name`: xeon-e5320 (S3) or dike-xeon (S4). `clocks`: all-fast, half-half, one-fast (S3 only),
/// all-slow. input_error names what there is not.
[[nodiscard]] thread_platform thread_platform_of(const std::string& name, const std::string& clocks,
                                                 const dike_machine& = {});

/// Those of the socket with the widest way to memory.
[[nodiscard]] std::vector<core_id> cores_near_memory(const thread_platform&);

/// S1's board with so many big and little cores in use. A big one is `ratio` times as fast for the
/// program at hand, and is the reference. input_error for more than four of a kind, or none at all.
/// `paths_alike`: the little cluster gets as much memory as the big one; no figure of either is
/// published (papers.md B3).
[[nodiscard]] thread_platform odroid_xu3(std::uint32_t big, std::uint32_t little, double ratio,
                                         bool paths_alike = false);

inline constexpr std::string_view thread_platforms[] = {"xeon-e5320", "dike-xeon"};

}  // namespace kilter::lab
