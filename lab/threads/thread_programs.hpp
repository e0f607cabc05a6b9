#pragma once
// The programs of S3 and S4 as threads with steps. lab/docs/threads.md has every number and where
// it comes from.

#include <string>
#include <vector>

#include "sim/threads/thread_program.hpp"

namespace kilter::lab {

/// What S3 and S4 leave open about their programs; of S4's benchmarks as factors of what
/// lab/docs/threads.md lists.
struct program_reading {
  /// A section's percentage is of the time of the whole program on one core (S3, footnote 2), not
  /// of its own thread's.
  bool sections_of_program = false;
  double work = 1.0;           ///< of the seconds that a thread takes alone
  double memory_demand = 1.0;  ///< of the bytes a second that a memory-bound one wants
  bool kmeans = true;          ///< runs beside every workload (papers.md E49)
  /// a thread waits for what it reads as long as so many cache lines at a time take to come
  /// (papers.md B5); 0: only where bandwidth is short
  std::uint32_t lines_in_flight = 0;
};

/// What runs under a name, together: `matmul-X-Y`, `itk`, `global-sum-P`, `global-sum-X-Y`, a code
/// of PARSEC (S3); `wl1` to `wl16` with KMEANS beside them, a benchmark alone (S4). input_error if
/// there is no such name.
[[nodiscard]] std::vector<sim::thread_program> thread_programs_of(const std::string& name,
                                                                  const program_reading& = {});

/// Names that stand for several, each of which is run: `parsec`, `class-b`, `class-uc`, `class-um`,
/// `all-workloads`; of another name the name itself.
[[nodiscard]] std::vector<std::string> members_of(const std::string& name);

/// S3's programs: matmul, itk, global-sum. Nothing if `name` is none of them.
[[nodiscard]] std::vector<sim::thread_program> small_program(const std::string& name,
                                                             const program_reading&);
/// The twelve codes of S3's Table 3.
[[nodiscard]] std::vector<sim::thread_program> parsec_program(const std::string& name);
[[nodiscard]] const std::vector<std::string>& parsec_names();
/// freqmine, dedup and ferret with the unequal threads of S3's Table 4.
[[nodiscard]] std::vector<sim::thread_program> asymmetric_program(const std::string& name);
/// S4's benchmarks and workloads.
[[nodiscard]] std::vector<sim::thread_program> contended_programs(const std::string& name,
                                                                  const program_reading&);

}  // namespace kilter::lab
